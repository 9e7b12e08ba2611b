// Leads counted by score. Pure.

/** Leads by score. */
export type ScoreCounts = ReadonlyMap<number, number>;

/** A score, and its leads with the outcome and without it. */
export interface ScoredClass {
  readonly score: number;
  readonly won: number;
  readonly others: number;
}

/** Both kinds of leads by score, the highest score first. */
export function classesOf(won: ScoreCounts, others: ScoreCounts): ScoredClass[] {
  return [...new Set([...won.keys(), ...others.keys()])]
    .sort((one, other) => other - one)
    .map((score) => ({ score, won: won.get(score) ?? 0, others: others.get(score) ?? 0 }));
}

export function sumOf(counts: ScoreCounts): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

export interface Band {
  readonly from: number;
  readonly to: number;
}

/** The most bands of a distribution. */
const wantedBands = 20;

/**
 * Bands of equal, round width that hold all the scores, in ascending order: at most 21. Both ends of a band are inclusive.
 * @param range the largest and the smallest score there is: bands end there
 */
export function bandsOf(scores: Iterable<number>, range: { low: number; high: number }): Band[] {
  let low = Infinity;
  let high = -Infinity;
  for (const score of scores) {
    low = Math.min(low, score);
    high = Math.max(high, score);
  }
  if (low > high) return [];
  const width = roundWidth((high - low + 1) / wantedBands);
  const bands: Band[] = [];
  for (let from = Math.floor(low / width) * width; from <= high; from += width)
    bands.push({ from: Math.max(from, range.low), to: Math.min(from + width - 1, range.high) });
  return bands;
}

/** The next 1, 2 or 5 times a power of ten. */
function roundWidth(least: number): number {
  for (let power = 1; ; power *= 10)
    for (const factor of [1, 2, 5]) if (power * factor >= least) return power * factor;
}

/** The number of leads in each band. The bands hold all the scores. */
export function countIn(bands: readonly Band[], counts: ScoreCounts): number[] {
  const found = bands.map(() => 0);
  for (const [score, count] of counts) {
    const index = bands.findIndex(({ from, to }) => score >= from && score <= to);
    found[index] = (found[index] ?? 0) + count;
  }
  return found;
}
