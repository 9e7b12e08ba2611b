// The points of an account and what gives them, folded from the decisions on it. Pure; the caller folds each decision once.
import type { records, RollUp } from '@lead-scoring/contracts';
import { pointChangesIn, withPointChanges, type GivenPoints } from './given-points.js';
import { heldChangesIn, withHeldChanges, type HeldPoints } from './held-points.js';

export interface AccountPoints {
  readonly score: number;
  /** At least one: an account without leads is gone. */
  readonly leads: number;
  /** The points of the roll-up. */
  readonly leads_points: number;
  readonly roll_up: RollUp;
  /** The points of rules, in the order in which they began to match. */
  readonly given: readonly GivenPoints[];
  /** Points that limits of rulesets hold. */
  readonly held: readonly HeldPoints[];
}

/** @returns null where the account has no leads any more */
export function foldAccountPoints(
  points: AccountPoints | null,
  { score, leads, roll_up, adjustments }: records.AccountScored,
): AccountPoints | null {
  if (leads === 0) return null;
  return {
    score,
    leads,
    leads_points: adjustments.reduce(
      (sum, { reason, points: changed }) => (reason === 'leads' ? sum + changed : sum),
      points?.leads_points ?? 0,
    ),
    roll_up,
    given: withPointChanges(points?.given ?? [], pointChangesIn(adjustments)),
    held: withHeldChanges(points?.held ?? [], heldChangesIn(adjustments)),
  };
}
