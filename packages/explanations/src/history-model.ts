// The course of a lead's score over a range, as points of a plot. Points count from the time of their event, as in explanations
// (`at`), also when the event arrived later. Pure.
import {
  changesOfConditions,
  changesOfScore,
  heldInRange,
  type ConditionDecision,
  type ExplainedDecision,
  type ScoreChange,
} from '@lead-scoring/scoring-domain';

export interface HistoryPoint {
  at: string;
  score: number;
}

/** Changes nearer to each other than this fraction of the range are drawn as one point. */
const maximumSteps = 120;

/**
 * The score at the start of the range, after each change, and now. Changes too near to be told apart in a plot are
 * merged.
 * @param score the score at `at`, after all decisions
 * @param decisions all decisions on the lead; all count at `at`
 */
export function scoreHistory(
  score: number,
  decisions: readonly ExplainedDecision[],
  range: { at: string; range_hours: number },
): HistoryPoint[] {
  return courseOf(score, changesOfScore(decisions), range);
}

/** The same of a profile or deal score, whose points count from the decisions on the profile or the deals. */
export function conditionHistory(
  score: number,
  decisions: readonly ConditionDecision[],
  range: { at: string; range_hours: number },
): HistoryPoint[] {
  return courseOf(score, changesOfConditions(decisions), range);
}

function courseOf(
  score: number,
  all: readonly ScoreChange[],
  { at, range_hours }: { at: string; range_hours: number },
): HistoryPoint[] {
  const end = Date.parse(at);
  const start = end - range_hours * 3_600_000;
  const changes = all
    .map(({ moment, points }) => ({ time: Date.parse(moment), points }))
    .filter(({ time }) => time > start)
    .sort((a, b) => a.time - b.time);
  let current = score - changes.reduce((sum, { points }) => sum + points, 0);
  const history: HistoryPoint[] = [{ at: new Date(start).toISOString(), score: heldInRange(current) }];
  const stepMs = (end - start) / maximumSteps;
  let step = -1;
  for (const { time, points } of changes) {
    current += points;
    const point = { at: new Date(time).toISOString(), score: heldInRange(current) };
    const own = Math.floor((time - start) / stepMs);
    if (own === step) history[history.length - 1] = point;
    else history.push(point);
    step = own;
  }
  if (history.at(-1)?.at !== at) history.push({ at, score });
  return history;
}
