// Remembers empty buckets, whose requests are refused without a call of the database.
import { createBoundedCache } from '@lead-scoring/read-model';
import type { BucketLimits, TakeOutcome } from './token-bucket.js';

interface EmptyBucket {
  /** The earliest time, of `performance.now()`, at which any instance can grant a request. */
  until: number;
  fullAt: number;
  perMinute: number;
}

const maximumRemembered = 20_000;

export class EmptyBuckets {
  readonly #buckets = createBoundedCache<EmptyBucket>({ maximumEntries: maximumRemembered });

  /**
   * Remembers a refusal.
   * @param asked the time at which the update was sent: counted from then, the remembered end is never too late
   */
  add(bucketId: string, limits: BucketLimits, refusal: TakeOutcome, asked: number): void {
    this.#buckets.set(bucketId, {
      until: asked + refusal.retryInMs,
      fullAt: asked + refusal.fullInMs,
      perMinute: limits.perMinute,
    });
  }

  /** The refusal of a request now; null when it may be granted, or when the limits have changed since. */
  refusalOf(bucketId: string, limits: BucketLimits): TakeOutcome | null {
    const empty = this.#buckets.get(bucketId);
    const now = performance.now();
    if (!empty || now >= empty.until || empty.perMinute !== limits.perMinute) return null;
    return {
      granted: false,
      remaining: 0,
      fullInMs: Math.ceil(empty.fullAt - now),
      retryInMs: Math.max(1, Math.ceil(empty.until - now)),
    };
  }

  delete(bucketId: string): void {
    this.#buckets.delete(bucketId);
  }
}
