// Commands that change the account part of an OU's configuration, and the events of leads that account scoring appends.
import type { records } from '@lead-scoring/contracts';

export type AccountConfigurationCommand =
  | { type: 'SetAccountRulesActive'; payload: records.SetAccountRulesActive }
  | { type: 'SetAccountRollUp'; payload: records.SetAccountRollUp }
  | { type: 'SetAccountLevels'; payload: records.SetAccountLevels }
  | { type: 'MergeAccounts'; payload: records.MergeAccounts };

/** Appended by the partition of a lead. */
export interface ContributionEvent {
  readonly type: 'LeadContributed';
  readonly payload: records.LeadContributed;
}
