// A score stays within its range: one that would leave the range stays at its end. Pure.
import { largestScore, smallestScore } from '@lead-scoring/contracts';

/** The score, limited to the range. */
export function heldInRange(score: number): number {
  return Math.max(smallestScore, Math.min(largestScore, score));
}
