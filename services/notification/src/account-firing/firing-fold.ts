// Folds a batch of events into the states of accounts. Pure.
import type { records } from '@lead-scoring/contracts';
import { evolveAccount } from './evolve.js';
import type { AccountFiringEvent } from './messages.js';
import { initialAccountState, type AccountState } from './state.js';

/** An event of account firing, as read from the log. */
export interface RecordedAccountFiring {
  readonly event: AccountFiringEvent;
  /** The payload's text on the log. */
  readonly json: Buffer;
  readonly offset: number;
}

export interface FoldedAccount {
  readonly state: AccountState;
  /** Offset of the last event that was folded into the state. */
  readonly offset: number;
}

export interface ForgottenAccount {
  /** The state before the event that forgets the account. */
  readonly before: AccountState;
  readonly end: records.AccountForgotten;
  /** Offset of the event. */
  readonly offset: number;
}

export interface FoldedAccountFirings {
  /** States by account id. */
  readonly changed: ReadonlyMap<string, FoldedAccount>;
  /** The events that were not folded before. The others are not stored again: their account may have been forgotten since. */
  readonly unfolded: readonly RecordedAccountFiring[];
  readonly forgotten: readonly ForgottenAccount[];
}

/** @param before the states of all accounts of the events, by account id */
export function foldAccountFirings(
  recorded: readonly RecordedAccountFiring[],
  before: ReadonlyMap<string, FoldedAccount | null>,
): FoldedAccountFirings {
  const changed = new Map<string, FoldedAccount>();
  const unfolded: RecordedAccountFiring[] = [];
  const forgotten: ForgottenAccount[] = [];
  for (const one of recorded) {
    const { event, offset } = one;
    const { ou_id, account_id } = event.payload;
    const account = changed.get(account_id) ?? before.get(account_id);
    if (account && account.offset >= offset) continue;
    const state = account?.state ?? initialAccountState(ou_id, account_id);
    if (event.type === 'AccountForgotten') forgotten.push({ before: state, end: event.payload, offset });
    changed.set(account_id, { state: evolveAccount(state, event), offset });
    unfolded.push(one);
  }
  return { changed, unfolded, forgotten };
}
