// The arithmetic of a token bucket, in whole numbers, so that it is exact: the same here and in the database. Pure.

export interface BucketLimits {
  /** Requests that are refilled in a minute. */
  perMinute: number;
  /** Requests that the full bucket holds. */
  burst: number;
}

/** A bucket as of a moment. Its level is in parts of a request of which each millisecond brings `perMinute`. */
export interface Bucket {
  level: number;
  /** Milliseconds; a clock that is set back does not take it back. */
  at: number;
}

/** Parts that make up one request: as many as a minute has milliseconds. */
export const partsOfRequest = 60_000;

/**
 * Takes up to n requests out of the bucket. A bucket that is not there yet is full.
 * @param returned requests that were taken before and are put back first; below 0: requests that were granted ahead and
 *   are taken now, whatever the bucket holds. What it lacks is a debt, which the refill pays first.
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

/** What one request is told. */
export interface TakeOutcome {
  granted: boolean;
  /** Requests that the bucket still holds. */
  remaining: number;
  /** Until the bucket is full again. */
  fullInMs: number;
  /** Until the next request would be granted; 0 when one would be now. */
  retryInMs: number;
}

/**
 * What each of n requests that took from the bucket together is told, in the order of their arrival.
 * @param after the bucket when they had taken
 */
export function shareOut(after: Bucket, limits: BucketLimits, granted: number, n: number): TakeOutcome[] {
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
