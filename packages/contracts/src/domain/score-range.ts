// The range of scores: 32-bit integers. A score that would leave the range stays at its end.

export const smallestScore = -2_147_483_648;
export const largestScore = 2_147_483_647;

/** The score, limited to the range. */
export function heldInRange(score: number): number {
  return Math.max(smallestScore, Math.min(largestScore, score));
}
