// Counts of a partition's accounts and of their leads, by the score of the account: folded from decisions. Pure.
import type { records } from '@lead-scoring/contracts';
import { countAt } from '../leads/histogram-fold.js';

/** Changed in place, because few of its many counts change at a time. */
export interface AccountStatistics {
  readonly accounts: Map<number, number>;
  readonly leads: Map<number, number>;
  /** The offset of the last counted decision. */
  offset: number;
}

export function emptyAccountStatistics(): AccountStatistics {
  return { accounts: new Map(), leads: new Map(), offset: -1 };
}

/** @returns whether the decision was not counted before */
export function countAccountScored(
  statistics: AccountStatistics,
  { previous_score, score, leads, contributions }: records.AccountScored,
  offset: number,
): boolean {
  if (statistics.offset >= offset) return false;
  statistics.offset = offset;
  const before = leads - joinedIn(contributions);
  if (before > 0) count(statistics, previous_score, -1, -before);
  if (leads > 0) count(statistics, score, 1, leads);
  return true;
}

/** How many more leads the account has than before. */
function joinedIn(contributions: records.AccountScored['contributions']): number {
  let joined = 0;
  for (const { previous_score, score } of contributions) {
    if (previous_score === null) joined += 1;
    if (score === null) joined -= 1;
  }
  return joined;
}

function count({ accounts, leads }: AccountStatistics, score: number, account: number, some: number): void {
  countAt(accounts, score, account);
  countAt(leads, score, some);
}
