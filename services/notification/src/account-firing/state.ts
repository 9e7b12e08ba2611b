// The state of an account: the fold of the events of account firing.
import type { TriggerMemory } from '@lead-scoring/scoring-domain/triggers';

export interface AccountState {
  readonly ou_id: string;
  readonly account_id: string;
  /** Offset of the last record of scoring.events on which an event was decided; -1 before the first. */
  readonly seen: number;
  /** By trigger id. Every firing is in it until the account is forgotten. */
  readonly memories: ReadonlyMap<string, TriggerMemory>;
}

export function initialAccountState(ouId: string, accountId: string): AccountState {
  return { ou_id: ouId, account_id: accountId, seen: -1, memories: new Map() };
}
