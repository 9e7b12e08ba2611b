// Takes requests from buckets in MongoDB: one atomic update for all requests that wait together, by the database's clock.
import { createBoundedCache, isRetriable, type ReadModel } from '@lead-scoring/read-model';
import type { Logger } from '@lead-scoring/service';
import type { DatabaseGate } from '../database-gate.js';
import { buckets, takePipeline } from './bucket-documents.js';
import { take, type Bucket, type BucketLimits } from './token-bucket.js';

const maximumCopies = 20_000;

/**
 * While the database is away, each instance uses its own copies of the buckets, as last seen: producers must be able to send events
 * while only MongoDB is down. The limit is then at worst one bucket per instance.
 */
export class BucketStore {
  readonly #collection;
  /** The buckets as last seen, by this process's monotonic clock. */
  readonly #copies = createBoundedCache<Bucket>({ maximumEntries: maximumCopies });

  constructor(
    readModel: ReadModel,
    private readonly gate: DatabaseGate,
    private readonly logger: Logger,
  ) {
    this.#collection = readModel.collection(buckets);
  }

  /** The bucket as this instance last took from it, at a time of `performance.now()`. */
  lastSeen(bucketId: string): Bucket | undefined {
    return this.#copies.get(bucketId);
  }

  /** Takes up to n requests, as the pure `take` does. Never rejects. */
  async take(
    bucketId: string,
    limits: BucketLimits,
    n: number,
    returned: number,
  ): Promise<{ bucket: Bucket; granted: number }> {
    try {
      return await this.#takeStored(bucketId, limits, n, returned);
    } catch (error) {
      if (!isRetriable(error))
        this.logger.error(
          { err: error },
          'the rate limit cannot be updated in the database; this instance uses its own copy',
        );
      return this.#takeOwn(bucketId, limits, n, returned);
    }
  }

  async #takeStored(bucketId: string, limits: BucketLimits, n: number, returned: number) {
    const update = () =>
      this.#collection.findOneAndUpdate({ _id: bucketId }, takePipeline(limits, n, '$$NOW', returned), {
        upsert: true,
        returnDocument: 'after',
      });
    // When two instances create the same bucket at once, one fails and finds the bucket the second time. MongoDB then reports a
    // duplicate key; DocumentDB reports an unknown variable `$$NOW`, which is not set any more after its insert has failed.
    const after = await this.gate.run(() =>
      update().catch((error: unknown) => {
        if (isRetriable(error)) throw error;
        return update();
      }),
    );
    if (!after) throw new Error(`the bucket ${bucketId} was neither found nor created`);
    this.#copies.set(bucketId, { level: after.level, at: performance.now() });
    return { bucket: after, granted: after.granted };
  }

  #takeOwn(bucketId: string, limits: BucketLimits, n: number, returned: number) {
    const known = this.#copies.get(bucketId) ?? null;
    const taken = take(known, limits, performance.now(), n, returned);
    this.#copies.set(bucketId, taken.bucket);
    return taken;
  }
}
