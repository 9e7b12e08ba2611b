// The arithmetic of a token bucket. It uses whole numbers, so that it is exact and the same here and in the database. Pure.

export interface BucketLimits {
  /** Requests that are refilled in a minute. */
  perMinute: number;
  /** Requests that the full bucket holds. */
  burst: number;
}

/** A bucket at a point in time. Its level is in 1/60,000 of a request: each millisecond refills `perMinute` of these parts. */
export interface Bucket {
  level: number;
  /** Milliseconds; it never decreases, also when the clock is set back. */
  at: number;
}

/** The parts of one request: the number of milliseconds in a minute. */
export const partsOfRequest = 60_000;

/**
 * Takes up to n requests out of the bucket. A bucket that does not exist yet is full.
 * @param returned taken requests that are put back first; below 0: requests that were granted ahead and are taken now even if the
 *   bucket holds fewer. Its level is then negative, and the refill first pays this debt.
 */
export function take(
  bucket: Bucket | null,
  limits: BucketLimits,
  now: number,
  n: number,
  returned = 0,
): { bucket: Bucket; granted: number } {
  const capacity = limits.burst * partsOfRequest;
  const elapsed = bucket ? Math.max(0, now - bucket.at) : 0;
  const refilled = (bucket?.level ?? capacity) + elapsed * limits.perMinute;
  const level = Math.min(capacity, refilled + returned * partsOfRequest);
  const granted = Math.max(0, Math.min(n, Math.floor(level / partsOfRequest)));
  return {
    bucket: { level: level - granted * partsOfRequest, at: bucket ? Math.max(bucket.at, now) : now },
    granted,
  };
}

/** The outcome for one request. */
export interface TakeOutcome {
  granted: boolean;
  /** The requests left in the bucket. */
  remaining: number;
  /** The time until the bucket is full again. */
  fullInMs: number;
  /** The time until the next request would be granted; 0 when one would be granted now. */
  retryInMs: number;
}

/**
 * The outcomes of n requests that took from the bucket together, in the order of their arrival.
 * @param after the bucket after all of them
 */
export function outcomesOf(after: Bucket, limits: BucketLimits, granted: number, n: number): TakeOutcome[] {
  const capacity = limits.burst * partsOfRequest;
  return Array.from({ length: n }, (_, index) => {
    const level = after.level + Math.max(0, granted - index - 1) * partsOfRequest;
    return {
      granted: index < granted,
      remaining: Math.max(0, Math.floor(level / partsOfRequest)),
      fullInMs: Math.ceil((capacity - level) / limits.perMinute),
      retryInMs: Math.max(0, Math.ceil((partsOfRequest - level) / limits.perMinute)),
    };
  });
}
