// When a score crosses a milestone, and when the milestone is re-armed.
import type { Line } from './line.js';

/** Up: from below the threshold to the threshold or above. Down: from the threshold or above to below it. */
export function isCrossed(
  { direction, threshold }: Pick<Line, 'direction' | 'threshold'>,
  before: number,
  after: number,
): boolean {
  return direction === 'up'
    ? before < threshold && after >= threshold
    : before >= threshold && after < threshold;
}

/** Whether a score re-arms the milestone, so that the next crossing fires again. */
export function isRearmedBy({ direction, threshold, rearm }: Line, score: number): boolean {
  return direction === 'up' ? score < (rearm.below ?? threshold) : score >= (rearm.above ?? threshold);
}

/**
 * The score at which the milestone is re-armed, where that is not the threshold itself; null where it is: a crossing then starts
 * on the side that re-arms, also after the level's bound has moved.
 */
export function rearmBoundOf({ direction, threshold, rearm }: Line): number | null {
  if (direction === 'up') return rearm.below !== undefined && rearm.below < threshold ? rearm.below : null;
  return rearm.above !== undefined && rearm.above > threshold ? rearm.above : null;
}
