// How many leads have which score, as one partition knows it: gives totals and the place of any page at once,
// without counting. Exact for scores of three digits; larger ones share buckets of less than a thousandth of their size.

/** Leads by bucket. */
export type Histogram = ReadonlyMap<number, number>;

const exactBelow = 1_024;

/** The bucket of a score, named by that of its scores that is nearest to 0. */
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

/** A lead's score has become another, or (`from` null) the lead is new. Changes the histogram in place. */
export function moveLead(histogram: Map<number, number>, from: number | null, to: number): void {
  if (from !== null) add(histogram, bucketOf(from), -1);
  add(histogram, bucketOf(to), 1);
}

function add(histogram: Map<number, number>, bucket: number, change: number): void {
  const count = (histogram.get(bucket) ?? 0) + change;
  if (count === 0) histogram.delete(bucket);
  else histogram.set(bucket, count);
}

/** Histograms of several partitions as one. */
export function joinHistograms(histograms: Iterable<Histogram>): Map<number, number> {
  const joined = new Map<number, number>();
  for (const histogram of histograms) for (const [bucket, count] of histogram) add(joined, bucket, count);
  return joined;
}

export interface ScoreRange {
  low: number;
  high: number;
}

/** How many leads are in buckets wholly within the range, and which parts of buckets at its edges must be counted. */
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
 * Where the lead that follows `skip` others is: the range without the buckets that are skipped whole, and how many
 * leads are still to be skipped in it.
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
    // Of a bucket that the range cuts nobody knows how many are inside.
    if (inside.low < low || inside.high > high || left < leads) break;
    left -= leads;
    if (direction === 'ascending') low = inside.high + 1;
    else high = inside.low - 1;
  }
  return { range: { low, high }, skip: left };
}

/**
 * Where a stretch of the order of scores ends that begins at a position and holds about `wanted` leads. Positions are
 * those of `rankEdge`: within a bucket, leads are taken to lie evenly.
 * @param start a position within the range or at its end
 * @returns a position; the range's own end when no more leads than wanted are known there
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
