// The records that triggers by account score are evaluated on, and the events of their firings.
import { eventOf, records, type RecordDeclaration, type RecordedEvent } from '@lead-scoring/contracts';

export const accountFiringReads = {
  'scoring.events': {
    LeadScored: 'ignored',
    ScoreAdjusted: 'ignored',
    LeadRemoved: 'ignored',
    LeadLevelChanged: 'ignored',
    DealScored: 'ignored',
    DealLeadRemoved: 'ignored',
    DealRemoved: 'ignored',
    DealsIgnored: 'ignored',
    RulesetCreated: 'ignored',
    RulesetUpdated: 'ignored',
    RuleCreated: 'ignored',
    RuleUpdated: 'ignored',
    RuleDeleted: 'ignored',
    RulesetDeleted: 'ignored',
    RulesActivationChanged: 'ignored',
    EngagementLevelsSet: 'ignored',
    ProfileRuleCreated: 'ignored',
    ProfileRuleUpdated: 'ignored',
    ProfileRulesActivationChanged: 'ignored',
    ProfileMappingAdded: 'ignored',
    ProfileMappingRemoved: 'ignored',
    DealRuleCreated: 'ignored',
    DealRuleUpdated: 'ignored',
    AccountRuleCreated: 'ignored',
    AccountRuleUpdated: 'ignored',
    AccountRulesActivationChanged: 'ignored',
    AccountRollUpSet: 'ignored',
    LeadContributed: 'ignored',
    AccountScored: 'taken',
    ProfileLevelsSet: 'ignored',
    ScoringGridSet: 'ignored',
    FilterCreated: 'ignored',
    FilterUpdated: 'ignored',
    FilterDeleted: 'ignored',
    DecayCreated: 'ignored',
    DecayUpdated: 'ignored',
    DecayDeleted: 'ignored',
    DecaysScheduled: 'ignored',
  },
} as const;

export type AccountFiringEvent =
  | { type: 'AccountMilestoneFired'; payload: records.AccountMilestoneFired }
  | { type: 'AccountTriggerRearmed'; payload: records.AccountTriggerRearmed }
  | { type: 'AccountTriggerSuppressed'; payload: records.AccountTriggerSuppressed }
  | { type: 'AccountForgotten'; payload: records.AccountForgotten };

/** How each event is declared on the log. */
export const accountFiringRecords = {
  AccountMilestoneFired: records.accountMilestoneFired,
  AccountTriggerRearmed: records.accountTriggerRearmed,
  AccountTriggerSuppressed: records.accountTriggerSuppressed,
  AccountForgotten: records.accountForgotten,
} satisfies { readonly [Type in AccountFiringEvent['type']]: RecordDeclaration };

/** The event that a record is; null for any other record. */
export function accountFiringEventOf(record: RecordedEvent): AccountFiringEvent | null {
  return eventOf<AccountFiringEvent>(accountFiringRecords, record);
}
