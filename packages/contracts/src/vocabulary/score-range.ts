// The range of scores: 32-bit integers.

export const smallestScore = -2_147_483_648;
export const largestScore = 2_147_483_647;
