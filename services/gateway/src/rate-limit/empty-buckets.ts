// Buckets that are known to be empty: their requests are refused without asking the database.
import { LRUCache } from 'lru-cache';
import type { BucketLimits, TakeOutcome } from './token-bucket.js';

interface EmptyBucket {
  /** Milliseconds of `performance.now()`; whatever other instances do, no request can be granted before. */
  until: number;
  fullAt: number;
  perMinute: number;
}

const maximumRemembered = 20_000;

export class EmptyBuckets {
  readonly #buckets = new LRUCache<string, EmptyBucket>({ max: maximumRemembered });

  /**
   * Remembers a refusal.
   * @param asked when the question was sent: counted from there, the way there and back never makes the end too late
   */
  add(bucketId: string, limits: BucketLimits, refusal: TakeOutcome, asked: number): void {
    this.#buckets.set(bucketId, {
      until: asked + refusal.retryInMs,
      fullAt: asked + refusal.fullInMs,
      perMinute: limits.perMinute,
    });
  }

  /** The refusal of a request now; null where one may be granted. Other limits than those of before fill at another pace. */
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
