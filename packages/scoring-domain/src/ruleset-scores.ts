// A lead's points by ruleset, folded from decisions. Pure.
import type { records } from '@lead-scoring/contracts';
import { heldInRange } from './score-range.js';
import { countedPoints, isOfEvents } from './scored-points.js';

/** In the order of each ruleset's first points. */
export type RulesetScores = readonly { readonly ruleset_id: string; readonly score: number }[];

/** Adds a decision: what its events gave each ruleset, and its other adjustments that name a ruleset. */
export function withDecision(
  known: RulesetScores,
  { scored_events, adjustments }: Pick<records.LeadScored, 'scored_events' | 'adjustments'>,
): RulesetScores {
  if (scored_events.length === 0 && !adjustments) return known;
  // Few rulesets: looking through them costs less than a map.
  const rulesets = known.map(({ ruleset_id, score }) => ({ ruleset_id, score }));
  for (const { matches, ruleset_adjustments } of scored_events) {
    for (const match of matches) addPoints(rulesets, match.ruleset_id, countedPoints(match));
    if (ruleset_adjustments)
      for (const { ruleset_id, points } of ruleset_adjustments) addPoints(rulesets, ruleset_id, points);
  }
  if (adjustments)
    for (const adjustment of adjustments)
      if (adjustment.ruleset_id !== undefined && !isOfEvents(adjustment))
        addPoints(rulesets, adjustment.ruleset_id, adjustment.points);
  return rulesets;
}

/** Changes the rulesets in place. */
function addPoints(
  rulesets: { ruleset_id: string; score: number }[],
  ruleset_id: string,
  points: number,
): void {
  for (const ruleset of rulesets)
    if (ruleset.ruleset_id === ruleset_id) {
      ruleset.score = heldInRange(ruleset.score + points);
      return;
    }
  rulesets.push({ ruleset_id, score: points });
}

/** Adds the points that later decisions gave each ruleset. */
export function joinRulesetScores(before: RulesetScores, later: RulesetScores): RulesetScores {
  const joined = new Map(before.map(({ ruleset_id, score }) => [ruleset_id, score]));
  for (const { ruleset_id, score } of later)
    joined.set(ruleset_id, heldInRange((joined.get(ruleset_id) ?? 0) + score));
  return [...joined].map(([ruleset_id, score]) => ({ ruleset_id, score }));
}
