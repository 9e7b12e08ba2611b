// The points of a decision, event by event. Pure.
import type { records } from '@lead-scoring/contracts';

/** The points that a match gave, less those that limits of its rule held back. */
export function countedPoints({
  points,
  counted_points = points,
}: records.ScoredEvent['matches'][number]): number {
  return counted_points;
}

/** The points that an event added to the score: those of its matches, less those that limits of rules and rulesets held back. */
export function pointsOfEvent({ matches, ruleset_adjustments = [] }: records.ScoredEvent): number {
  let sum = 0;
  for (const match of matches) sum += countedPoints(match);
  for (const { points } of ruleset_adjustments) sum += points;
  return sum;
}

/** Whether an adjustment sums up points that its decision lists by event. */
export function isOfEvents({ reason }: records.ScoreAdjustment): boolean {
  return reason === 'capped_by_rule' || reason === 'held_by_ruleset';
}
