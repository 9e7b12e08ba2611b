// The range of scores: 32-bit integers, everywhere. A score that would leave it is held at its end.

export const smallestScore = -2_147_483_648;
export const largestScore = 2_147_483_647;

/** The score itself, or the end of the range that it would pass. */
export function heldInRange(score: number): number {
  return Math.max(smallestScore, Math.min(largestScore, score));
}
