// The limits of rulesets whose rules have conditions: how many points they hold of the rules that match now. Pure.
import {
  rulesetLimitsOf,
  type ConditionRule,
  type HeldPoints,
  type RulesetLimits,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';

/** The limits of rulesets that have any. */
export type RulesetRanges = ReadonlyMap<string, RulesetLimits>;

/** The limits of the rulesets of these rules. */
export function rangesOf(
  rules: Iterable<Pick<ConditionRule, 'ruleset_id'>>,
  rulesets: ScoringConfiguration['rulesets'],
): RulesetRanges {
  const ranges = new Map<string, RulesetLimits>();
  for (const { ruleset_id } of rules) {
    const limits = rulesetLimitsOf(rulesets.get(ruleset_id) ?? {});
    if (limits.min_score !== undefined || limits.max_score !== undefined) ranges.set(ruleset_id, limits);
  }
  return ranges;
}

/** What the limits hold of the rules that match, by ruleset; a ruleset of which nothing is held has no entry. */
export function heldPoints(
  matching: readonly Pick<ConditionRule, 'ruleset_id' | 'weight'>[],
  ranges: RulesetRanges,
): Map<string, number> {
  const held = new Map<string, number>();
  for (const [rulesetId, { min_score = -Infinity, max_score = Infinity }] of ranges) {
    let sum = 0;
    for (const { ruleset_id, weight } of matching) if (ruleset_id === rulesetId) sum += weight;
    const points = Math.min(Math.max(sum, min_score), max_score) - sum;
    if (points !== 0) held.set(rulesetId, points);
  }
  return held;
}

/** The differences between what limits hold now and what they held before. */
export function heldChanges(
  before: readonly HeldPoints[],
  matching: readonly Pick<ConditionRule, 'ruleset_id' | 'weight'>[],
  ranges: RulesetRanges,
): HeldPoints[] {
  const due = heldPoints(matching, ranges);
  const known = new Map(before.map(({ ruleset_id, points }) => [ruleset_id, points]));
  return [...new Set([...known.keys(), ...due.keys()])].flatMap((ruleset_id) => {
    const points = (due.get(ruleset_id) ?? 0) - (known.get(ruleset_id) ?? 0);
    return points === 0 ? [] : [{ ruleset_id, points }];
  });
}
