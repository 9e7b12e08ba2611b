// The changes of a score, each with the moment from which it counts on both clocks. Explanations count the same points at the same
// moments; a law of score-history.unit.test.ts compares them. Pure.
import type { ConditionDecision } from '../condition-explanation.js';
import { withoutDeletedEvents } from '../deleted-events.js';
import type { ExplainedDecision } from '../explanation.js';
import { resetsScore } from '../score-decision.js';
import { visitPoints } from '../scored-points.js';

export interface ScoreChange {
  /** When the points count by the clock of the events. */
  moment: string;
  /** When the system learned of them. */
  known_from: string;
  /** Other than 0. */
  points: number;
}

const sumOf = (adjustments: readonly { points: number }[]) =>
  adjustments.reduce((sum, { points }) => sum + points, 0);

/**
 * The changes of an engagement score.
 * @param decisions all decisions on the lead, in the order in which they were made
 */
export function changesOfScore(decisions: readonly ExplainedDecision[]): ScoreChange[] {
  const changes: ScoreChange[] = [];
  const add = (change: ScoreChange) => {
    if (change.points !== 0) changes.push(change);
  };
  let latest = '';
  for (const decision of withoutDeletedEvents(decisions)) {
    const { decided_at, adjustments = [] } = decision;
    if (decided_at > latest) latest = decided_at;
    if (resetsScore(decision) || decision.rescored) {
      // They take the place of what was decided before, also of what the clock of another machine dates later.
      add({ moment: latest, known_from: latest, points: sumOf(adjustments) });
      continue;
    }
    visitPoints(decision, (points, moment) => {
      add({ moment, known_from: decided_at, points });
    });
  }
  return changes;
}

/** The changes of a profile or deal score. Its points count from the decisions on. */
export function changesOfConditions(decisions: readonly ConditionDecision[]): ScoreChange[] {
  return decisions
    .map(({ decided_at, adjustments }) => ({
      moment: decided_at,
      known_from: decided_at,
      points: sumOf(adjustments),
    }))
    .filter(({ points }) => points !== 0);
}
