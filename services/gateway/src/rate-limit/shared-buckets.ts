// The buckets that all gateway instances share, in MongoDB, so that a limit is exact however many instances there are. While
// a bucket holds plenty, requests are granted ahead and taken from it ten times a second, so that a flood does not cost an
// update of the database for every few requests.
import type { ReadModel } from '@lead-scoring/read-model';
import type { Logger } from '@lead-scoring/service';
import type { DatabaseGate } from '../database-gate.js';
import { BucketStore } from './bucket-store.js';
import { EmptyBuckets } from './empty-buckets.js';
import { bucketIdOf, type RequestLimit } from './request-limit.js';
import { TakeQueue } from './take-queue.js';
import { partsOfRequest, shareOut, type BucketLimits, type TakeOutcome } from './token-bucket.js';

export interface Buckets {
  /** Takes one request out of the limit's bucket. Never rejects. */
  take(limit: RequestLimit): Promise<TakeOutcome>;
  /** Puts a request back that was taken and is not to count. */
  giveBack(limit: RequestLimit): void;
  /** Whether the bucket, when this instance last took from it, held more than requests under way could empty. */
  isPlentiful(limit: RequestLimit): boolean;
}

/** Requests; a credential has far fewer under way at once. */
const plenty = 2_000;
/** Requests that an instance grants ahead of the next update: twenty instances together cannot empty what is plenty. */
const aheadAtMost = 100;
/** What the bucket held is known for so long, in milliseconds: enough for an update after the pause of a `TakeQueue`. */
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

  /** Grants a request at once where the bucket was seen lately to hold plenty. */
  #takeAhead(bucketId: string, limits: BucketLimits): TakeOutcome | undefined {
    const seen = this.store.lastSeen(bucketId);
    if (!seen || performance.now() - seen.at > freshForMs) return undefined;
    if (this.#levelOf(bucketId) < plenty * partsOfRequest) return undefined;
    if (this.#aheadOf(bucketId) >= aheadAtMost) return undefined;
    this.#queueOf(bucketId, limits).grantAhead();
    return shareOut({ level: this.#levelOf(bucketId), at: seen.at }, limits, 1, 1)[0];
  }

  /** What the bucket held when it was last seen, less what was granted ahead since. */
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
    const outcomes = shareOut(bucket, limits, granted, n);
    const last = outcomes.at(-1);
    if (last && !last.granted) this.#empty.add(bucketId, limits, last, asked);
    return outcomes;
  }
}
