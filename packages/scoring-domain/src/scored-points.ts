// The points of a decision, event by event. Pure.
import type { records } from '@lead-scoring/contracts';
import { momentOfAdjustments, momentOfEvent, type DecisionTimes } from './moments.js';

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

/** The parts of a decision on an engagement score that say what it gave and when. */
export type DecidedPoints = Omit<DecisionTimes, 'scored_events'> & {
  /** Absent where no event caused the decision. */
  readonly scored_events?: readonly records.ScoredEvent[];
  readonly adjustments?: readonly records.ScoreAdjustment[] | undefined;
};

/**
 * Names what a decision on an engagement score changes, each with the moment of the events' clock from which it counts; all of it
 * makes the difference of the decision's two scores.
 */
export function visitPoints(decision: DecidedPoints, visit: (points: number, moment: string) => void): void {
  const { scored_events = [], adjustments = [] } = decision;
  for (const event of scored_events) visit(pointsOfEvent(event), momentOfEvent(event, decision));
  for (const adjustment of adjustments)
    if (!isOfEvents(adjustment))
      visit(adjustment.points, momentOfAdjustments({ ...decision, scored_events }));
}
