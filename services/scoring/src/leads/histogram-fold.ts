// The histogram of scores in one partition: it gives totals and the start of any page without counting documents. Scores below
// 1,024 have their own buckets; larger ones share buckets whose width is a small fraction of the score.

/** Leads by bucket. */
export type Histogram = ReadonlyMap<number, number>;

const exactBelow = 1_024;

/** The bucket of a score; a bucket is named by its score nearest to 0. */
export function bucketOf(score: number): number {
  const size = Math.abs(score);
  if (size < exactBelow) return score;
  const width = widthOf(size);
  return Math.sign(score) * Math.floor(size / width) * width;
}

/** The lowest and the highest score of a bucket. */
export function bucketRange(bucket: number): { low: number; high: number } {
  const size = Math.abs(bucket);
  const span = size < exactBelow ? 0 : widthOf(size) - 1;
  return bucket < 0 ? { low: bucket - span, high: bucket } : { low: bucket, high: bucket + span };
}

function widthOf(size: number): number {
  return 2 ** (Math.floor(Math.log2(size)) - 9);
}

/** Counts a changed score, a new lead (`from` null) or a removed lead (`to` null). Changes the histogram in place. */
export function moveLead(histogram: Map<number, number>, from: number | null, to: number | null): void {
  if (from !== null) countAt(histogram, from, -1);
  if (to !== null) countAt(histogram, to, 1);
}

/** Counts so many more at a score, or fewer. Changes the histogram in place. */
export function countAt(histogram: Map<number, number>, score: number, change: number): void {
  add(histogram, bucketOf(score), change);
}

function add(histogram: Map<number, number>, bucket: number, change: number): void {
  const count = (histogram.get(bucket) ?? 0) + change;
  if (count === 0) histogram.delete(bucket);
  else histogram.set(bucket, count);
}

/** The sum of the histograms of several partitions. */
export function joinHistograms(histograms: Iterable<Histogram>): Map<number, number> {
  const joined = new Map<number, number>();
  for (const histogram of histograms) for (const [bucket, count] of histogram) add(joined, bucket, count);
  return joined;
}

export interface ScoreRange {
  low: number;
  high: number;
}

/** The number of leads in buckets that lie in the range, and the parts of buckets at its bounds that have to be counted. */
export function countWithin(
  histogram: Histogram,
  { low, high }: ScoreRange,
): { count: number; toCount: ScoreRange[] } {
  let count = 0;
  const toCount: ScoreRange[] = [];
  for (const [bucket, leads] of histogram) {
    const range = bucketRange(bucket);
    if (range.high < low || range.low > high) continue;
    if (range.low >= low && range.high <= high) count += leads;
    else toCount.push({ low: Math.max(low, range.low), high: Math.min(high, range.high) });
  }
  return { count, toCount };
}

/**
 * Skips leads at the start of a range: returns the range without the wholly skipped buckets, and the number of leads that remain
 * to be skipped in it.
 */
export function skipWithin(
  histogram: Histogram,
  range: ScoreRange,
  skip: number,
  direction: 'ascending' | 'descending',
): { range: ScoreRange; skip: number } {
  const step = direction === 'ascending' ? 1 : -1;
  const buckets = [...histogram].sort(([left], [right]) => step * (left - right));
  let { low, high } = range;
  let left = skip;
  for (const [bucket, leads] of buckets) {
    const inside = bucketRange(bucket);
    if (inside.high < low || inside.low > high) continue;
    // The number of leads in a part of a bucket is unknown.
    if (inside.low < low || inside.high > high || left < leads) break;
    left -= leads;
    if (direction === 'ascending') low = inside.high + 1;
    else high = inside.low - 1;
  }
  return { range: { low, high }, skip: left };
}

/**
 * The end of a section of the order of scores that begins at a position and has about `wanted` leads. Positions are
 * those of `rankEdge`; leads are assumed to be evenly distributed in a bucket.
 * @param start a position within the range or at its end
 * @returns a position; the end of the range if it has no more than the wanted leads
 */
export function stretchEnd(
  histogram: Histogram,
  { low, high }: ScoreRange,
  start: number,
  wanted: number,
  direction: 'ascending' | 'descending',
): number {
  const up = direction === 'ascending';
  const buckets = [...histogram].sort(([left], [right]) => (up ? left - right : right - left));
  let missing = wanted;
  for (const [bucket, leads] of buckets) {
    const inside = bucketRange(bucket);
    const bottom = Math.max(inside.low, up ? start : low);
    const top = Math.min(inside.high + 1, up ? high + 1 : start);
    if (top <= bottom || leads <= 0) continue;
    const each = (inside.high + 1 - inside.low) / leads;
    if (missing * each < top - bottom) return up ? bottom + missing * each : top - missing * each;
    missing -= (top - bottom) / each;
  }
  return up ? high + 1 : low;
}
