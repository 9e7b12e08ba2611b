// When a score passes a milestone, and when the milestone may be passed again.
import type { MilestoneTrigger } from '../configuration/state.js';

type Line = Pick<MilestoneTrigger, 'direction' | 'score_threshold' | 'rearm'>;

/** Up: from below to the threshold or beyond; down: from the threshold or beyond to below it. */
export function isCrossed(
  { direction, score_threshold: threshold }: Pick<Line, 'direction' | 'score_threshold'>,
  before: number,
  after: number,
): boolean {
  return direction === 'up'
    ? before < threshold && after >= threshold
    : before >= threshold && after < threshold;
}

/** Whether a score is on the side from which the milestone may be passed again, and far enough. */
export function isRearmedBy({ direction, score_threshold: threshold, rearm }: Line, score: number): boolean {
  return direction === 'up' ? score < (rearm.below ?? threshold) : score >= (rearm.above ?? threshold);
}

/** The score at which it is re-armed, where that is not the threshold itself: every crossing has been there. */
export function rearmBoundOf({ direction, score_threshold: threshold, rearm }: Line): number | null {
  const bound = direction === 'up' ? rearm.below : rearm.above;
  return bound === undefined || bound === threshold ? null : bound;
}
