// The past of a lead's score by hour or day, ready to plot. Pure.
import {
  placeIn,
  timeSpans,
  type LeadScoreType,
  type RequestedTime,
  type routeDeclarations,
} from '@lead-scoring/contracts';
import type { ExplainedLead } from '../explanation.js';
import { levelOf, levelsOfScore, type ScoreLevels } from '../levels.js';
import { heldInRange } from '../score-range.js';
import type { ScoreChange } from './changes.js';

type ScoreHistory = routeDeclarations.ScoreHistory;

export interface HistoryRequest extends RequestedTime {
  granularity: ScoreHistory['granularity'];
  score_type: LeadScoreType;
  /** What the system learned later does not count; absent: everything counts. */
  known_at?: string | undefined;
}

/**
 * The running total at the end of each hour or day, by the clock of the events, and what was given and taken in it.
 * @param lead with the score after all changes
 * @param changes all changes of the score, in any order
 * @param then the levels in force at `known_at`, or now
 */
export function historyOfScore(
  lead: ExplainedLead,
  changes: readonly ScoreChange[],
  then: ScoreLevels,
  request: HistoryRequest,
): ScoreHistory {
  const { score_type, granularity, timezone, known_at } = request;
  const spans = timeSpans(request);
  const sums = spans.map(() => ({ added: 0, taken: 0 }));
  let before = lead.score;
  for (const { moment, known_from, points } of changes) {
    before -= points;
    if (known_at !== undefined && known_from > known_at) continue;
    const place = placeIn(spans, moment);
    const sum = sums[place];
    if (sum) sum[points > 0 ? 'added' : 'taken'] += points;
    else if (place < 0) before += points;
  }
  let total = before;
  const points = spans.map(({ from, at, label }, index) => {
    const { added = 0, taken = 0 } = sums[index] ?? {};
    total += added + taken;
    return { label, starts_at: from, at, added, taken, score: heldInRange(total) };
  });
  const levels = levelsOfScore(then, score_type);
  const score = heldInRange(total);
  return {
    lead_id: lead.id,
    lead_name: lead.name,
    score_type,
    granularity,
    timezone,
    from: spans[0]?.from ?? request.latest,
    to: spans.at(-1)?.at ?? request.latest,
    ...(known_at !== undefined && { known_at }),
    score_before: heldInRange(before),
    score,
    level: levelOf(levels, score),
    levels: [...levels],
    points,
  };
}
