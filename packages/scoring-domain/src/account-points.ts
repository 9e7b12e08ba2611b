// The points of an account and what gives them, folded from the decisions on it. Pure; the caller folds each decision once.
import type { records, RollUp } from '@lead-scoring/contracts';
import { withPointChanges, type GivenPoints } from './given-points.js';
import { withHeldChanges, type HeldPoints } from './held-points.js';

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
    given: withPointChanges(points?.given ?? [], ruleChangesIn(adjustments)),
    held: withHeldChanges(points?.held ?? [], heldChangesIn(adjustments)),
  };
}

function ruleChangesIn(adjustments: records.AccountScored['adjustments']): GivenPoints[] {
  return adjustments.flatMap(({ reason, rule_id, rule_version, ruleset_id, points }) =>
    reason === 'account_rule' &&
    rule_id !== undefined &&
    rule_version !== undefined &&
    ruleset_id !== undefined
      ? [{ rule_id, rule_version, ruleset_id, points }]
      : [],
  );
}

function heldChangesIn(adjustments: records.AccountScored['adjustments']): HeldPoints[] {
  return adjustments.flatMap(({ reason, ruleset_id, points }) =>
    reason === 'held_by_ruleset' && ruleset_id !== undefined ? [{ ruleset_id, points }] : [],
  );
}
