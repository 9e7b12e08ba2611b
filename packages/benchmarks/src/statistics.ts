// Exact percentiles and medians: they use every value, no buckets.

export interface Latencies {
  count: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** @param milliseconds at least one; sorted in place */
export function latenciesOf(milliseconds: Float64Array): Latencies {
  milliseconds.sort();
  return {
    count: milliseconds.length,
    p50: percentile(milliseconds, 0.5),
    p90: percentile(milliseconds, 0.9),
    p99: percentile(milliseconds, 0.99),
    max: percentile(milliseconds, 1),
  };
}

/**
 * The smallest value that at least this share of all values does not exceed (nearest rank).
 * @param sorted ascending, not empty
 * @param share from 0 to 1
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('no values');
  return value;
}

/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined) throw new RangeError('no values');
  return (low + high) / 2;
}
