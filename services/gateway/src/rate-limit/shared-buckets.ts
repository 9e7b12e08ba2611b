// The buckets that all gateway instances share in MongoDB, so that a limit is exact for any number of instances. While a bucket has
// many requests left, an instance grants requests ahead and takes them from the bucket ten times a second, so that a flood does not
// cost a database update for every few requests.
import type { ReadModel } from '@lead-scoring/read-model';
import type { Logger } from '@lead-scoring/service';
import type { DatabaseGate } from '../database-gate.js';
import { BucketStore } from './bucket-store.js';
import { EmptyBuckets } from './empty-buckets.js';
import { bucketIdOf, type RequestLimit } from './request-limit.js';
import { TakeQueue } from './take-queue.js';
import { partsOfRequest, outcomesOf, type BucketLimits, type TakeOutcome } from './token-bucket.js';

export interface Buckets {
  /** Takes one request out of the limit's bucket. Never rejects. */
  take(limit: RequestLimit): Promise<TakeOutcome>;
  /** Puts a taken request back that is not to count. */
  giveBack(limit: RequestLimit): void;
  /** Whether the bucket, when this instance last took from it, held more than the requests in flight could use up. */
  isPlentiful(limit: RequestLimit): boolean;
}

/** A bucket with so many requests is plentiful; a credential has far fewer in flight at a time. */
const plenty = 2_000;
/** The most requests that an instance grants ahead of the next update: twenty instances cannot empty a plentiful bucket. */
const aheadAtMost = 100;
/** The time for which the level last seen is used: enough for an update after the pause of a `TakeQueue`. */
const freshForMs = 250;

export function createSharedBuckets(readModel: ReadModel, gate: DatabaseGate, logger: Logger): Buckets {
  return new SharedBuckets(new BucketStore(readModel, gate, logger));
}

class SharedBuckets implements Buckets {
  readonly #queues = new Map<string, TakeQueue>();
  readonly #empty = new EmptyBuckets();

  constructor(private readonly store: BucketStore) {}

  async take(limit: RequestLimit): Promise<TakeOutcome> {
    const bucketId = bucketIdOf(limit);
    return (
      this.#empty.refusalOf(bucketId, limit.limits) ??
      this.#takeAhead(bucketId, limit.limits) ??
      this.#queueOf(bucketId, limit.limits).take()
    );
  }

  giveBack(limit: RequestLimit): void {
    const bucketId = bucketIdOf(limit);
    this.#empty.delete(bucketId);
    this.#queueOf(bucketId, limit.limits).giveBack();
  }

  isPlentiful(limit: RequestLimit): boolean {
    return this.#levelOf(bucketIdOf(limit)) >= plenty * partsOfRequest;
  }

  /** Grants a request at once if the bucket was plentiful when it was seen a moment ago. */
  #takeAhead(bucketId: string, limits: BucketLimits): TakeOutcome | undefined {
    const seen = this.store.lastSeen(bucketId);
    if (!seen || performance.now() - seen.at > freshForMs) return undefined;
    if (this.#levelOf(bucketId) < plenty * partsOfRequest) return undefined;
    if (this.#aheadOf(bucketId) >= aheadAtMost) return undefined;
    this.#queueOf(bucketId, limits).grantAhead();
    return outcomesOf({ level: this.#levelOf(bucketId), at: seen.at }, limits, 1, 1)[0];
  }

  /** The level of the bucket when it was last seen, less the requests granted ahead since. */
  #levelOf(bucketId: string): number {
    const seen = this.store.lastSeen(bucketId)?.level ?? 0;
    return seen - this.#aheadOf(bucketId) * partsOfRequest;
  }

  #aheadOf(bucketId: string): number {
    return this.#queues.get(bucketId)?.ahead ?? 0;
  }

  #queueOf(bucketId: string, limits: BucketLimits): TakeQueue {
    const known = this.#queues.get(bucketId);
    if (known) {
      known.limits = limits;
      return known;
    }
    const queue = new TakeQueue(
      limits,
      (now, n, returned) => this.#settle(bucketId, now, n, returned),
      () => this.#queues.delete(bucketId),
    );
    this.#queues.set(bucketId, queue);
    return queue;
  }

  async #settle(
    bucketId: string,
    limits: BucketLimits,
    n: number,
    returned: number,
  ): Promise<readonly TakeOutcome[]> {
    const asked = performance.now();
    const { bucket, granted } = await this.store.take(bucketId, limits, n, returned);
    const outcomes = outcomesOf(bucket, limits, granted, n);
    const last = outcomes.at(-1);
    if (last && !last.granted) this.#empty.add(bucketId, limits, last, asked);
    return outcomes;
  }
}
