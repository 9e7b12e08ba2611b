// The points that limits of rulesets hold of what rules with conditions give: folded from recorded changes, and in words. Pure.
import type { ScoringConfiguration } from './configuration.js';
import type { RecordedAdjustment } from './given-points.js';
import { grouped } from './limits.js';

/** Points in a ruleset; of a limit those that keep the sum within it, negative above max_score. */
export interface HeldPoints {
  readonly ruleset_id: string;
  readonly points: number;
}

/** The changes of the points that limits of rulesets hold. */
export function heldChangesIn(adjustments: readonly RecordedAdjustment[]): HeldPoints[] {
  return adjustments.flatMap(({ reason, ruleset_id, points }) =>
    reason === 'held_by_ruleset' && ruleset_id !== undefined ? [{ ruleset_id, points }] : [],
  );
}

/** Folds changes of what limits hold. */
export function withHeldChanges(
  before: readonly HeldPoints[],
  changes: readonly HeldPoints[],
): readonly HeldPoints[] {
  if (changes.length === 0) return before;
  return pointsByRuleset([], [...before, ...changes]).filter(({ points }) => points !== 0);
}

/** Points by ruleset, as limits hold them. */
export function pointsByRuleset(
  given: readonly HeldPoints[],
  held: readonly HeldPoints[] = [],
): HeldPoints[] {
  const sums = new Map<string, number>();
  for (const { ruleset_id, points } of [...given, ...held])
    sums.set(ruleset_id, (sums.get(ruleset_id) ?? 0) + points);
  return [...sums].map(([ruleset_id, points]) => ({ ruleset_id, points }));
}

/** `Deal size: 20 points held back, at most 60 a deal`, with the present name and limits of the ruleset. */
export function heldWords(
  { ruleset_id, points }: HeldPoints,
  configuration: Pick<ScoringConfiguration, 'rulesets' | 'former_rulesets'>,
  holder: 'an account' | 'a deal',
): string {
  const { name, max_score, min_score } = namedRuleset(configuration, ruleset_id);
  const bound = points < 0 ? max_score : min_score;
  const limit =
    bound === undefined
      ? 'by a limit that it had'
      : `${points < 0 ? 'at most' : 'at least'} ${grouped(bound)} ${holder}`;
  return `${name}: ${grouped(Math.abs(points))} points ${points < 0 ? 'held back' : 'not taken away'}, ${limit}`;
}

/** A ruleset, also one that was deleted since. */
export function namedRuleset(
  { rulesets, former_rulesets }: Pick<ScoringConfiguration, 'rulesets' | 'former_rulesets'>,
  id: string,
): { name: string; min_score?: number | undefined; max_score?: number | undefined } {
  return rulesets.get(id) ?? former_rulesets.get(id) ?? { name: '' };
}
