// When a score passes a milestone, and when the milestone may be passed again.
import type { Line } from '../levels/line-model.js';

/** Up: from below to the threshold or beyond; down: from the threshold or beyond to below it. */
export function isCrossed(
  { direction, threshold }: Pick<Line, 'direction' | 'threshold'>,
  before: number,
  after: number,
): boolean {
  return direction === 'up'
    ? before < threshold && after >= threshold
    : before >= threshold && after < threshold;
}

/** Whether a score is on the side from which the milestone may be passed again, and far enough. */
export function isRearmedBy({ direction, threshold, rearm }: Line, score: number): boolean {
  return direction === 'up' ? score < (rearm.below ?? threshold) : score >= (rearm.above ?? threshold);
}

/**
 * The score at which it is re-armed, where that is farther than the threshold itself: every crossing has been there, and
 * past a bound that a level has moved over.
 */
export function rearmBoundOf({ direction, threshold, rearm }: Line): number | null {
  if (direction === 'up') return rearm.below !== undefined && rearm.below < threshold ? rearm.below : null;
  return rearm.above !== undefined && rearm.above > threshold ? rearm.above : null;
}
