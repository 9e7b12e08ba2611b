// The records that triggers by account score are evaluated on, and the events of their firings.
import { eventOf, records, type RecordDeclaration, type RecordedEvent } from '@lead-scoring/contracts';
import { firingReads } from '../firing/messages.js';

/** Of the records that firing reads, those on leads are ignored. A further type that firing takes does not compile here. */
export const accountFiringReads = {
  'scoring.events': {
    ...firingReads['scoring.events'],
    LeadScored: 'ignored',
    ScoreAdjusted: 'ignored',
    LeadRemoved: 'ignored',
    AccountScored: 'taken',
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
