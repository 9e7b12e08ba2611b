// The buckets that all gateway instances share, in MongoDB: one atomic update takes for all requests of a credential
// that are waiting together, by the database's clock, so the limit is exact however many instances there are.
import { defineCollection, isRetriable, type Document, type ReadModel } from '@lead-scoring/read-model';
import type { Logger } from '@lead-scoring/service';
import type { DatabaseGate } from '../database-gate.js';
import { LRUCache } from 'lru-cache';
import {
  partsOfRequest,
  shareOut,
  take,
  type Bucket,
  type BucketLimits,
  type Taken,
} from './token-bucket.js';

interface BucketDocument extends Bucket {
  _id: string;
  /** How many the last update granted. */
  granted: number;
  /** A full bucket is as good as none: the document goes when it is sure to be full. */
  expires_at: Date;
}

export const buckets = defineCollection<BucketDocument>({ name: 'rate_limit_buckets', indexes: [] });

export interface Buckets {
  /** Takes one request out of the bucket of this key. Never rejects. */
  take(key: string, limits: BucketLimits): Promise<Taken>;
  /** Puts a request back that was taken and is not to count. */
  giveBack(key: string, limits: BucketLimits): void;
  /** Whether the bucket, when this instance last took from it, held more than requests under way could empty. */
  isPlentiful(key: string): boolean;
}

/** Requests; a credential has far fewer under way at once. */
const plenty = 2_000;

interface Lane {
  limits: BucketLimits;
  waiting: ((taken: Taken) => void)[];
  /** Requests to be put back with the next update. */
  returned: number;
  busy: boolean;
}

/**
 * Takes that arrive while an update is under way go together in the next one.
 *
 * When the database is away, each instance goes on with its own copy of the buckets, as last seen: producers must be
 * able to send events while only MongoDB is down, and the limit is then at worst one bucket per instance.
 */
export function createSharedBuckets(readModel: ReadModel, gate: DatabaseGate, logger: Logger): Buckets {
  const collection = readModel.collection(buckets);
  const lanes = new Map<string, Lane>();
  const own = new LRUCache<string, Bucket>({ max: 20_000 });
  const emptyUntil = new LRUCache<string, { until: number; perMinute: number; fullAt: number }>({
    max: 20_000,
  });

  const takeShared = async (key: string, limits: BucketLimits, n: number, returned: number) => {
    const update = () =>
      collection.findOneAndUpdate({ _id: key }, takePipeline(limits, n, '$$NOW', returned), {
        upsert: true,
        returnDocument: 'after',
      });
    // Two instances that make the same bucket at once: one of them finds it the second time. What it is refused the first
    // time is its key by MongoDB, and `$$NOW` by DocumentDB, which knows it no more once its insert has met the other.
    const after = await gate.run(() =>
      update().catch((error: unknown) => {
        if (isRetriable(error)) throw error;
        return update();
      }),
    );
    if (!after) throw new Error(`the bucket ${key} was neither found nor made`);
    own.set(key, { level: after.level, at: performance.now() });
    return { bucket: after, granted: after.granted };
  };

  const takeOwn = (key: string, limits: BucketLimits, n: number, returned: number) => {
    const taken = take(own.get(key) ?? null, limits, performance.now(), n, returned);
    own.set(key, taken.bucket);
    return taken;
  };

  const takeAll = async (
    key: string,
    limits: BucketLimits,
    n: number,
    returned: number,
  ): Promise<Taken[]> => {
    const asked = performance.now();
    let taken: { bucket: Bucket; granted: number };
    try {
      taken = await takeShared(key, limits, n, returned);
    } catch (error) {
      if (!isRetriable(error)) logger.error({ err: error }, 'the shared rate limit does not work');
      taken = takeOwn(key, limits, n, returned);
    }
    const shares = shareOut(taken.bucket, limits, taken.granted, n);
    const last = shares.at(-1);
    if (last && !last.granted)
      // Whatever other instances do, nothing can be granted before: no need to ask. Counted from before the question,
      // so that the way there and back never makes it too late.
      emptyUntil.set(key, {
        until: asked + last.retryInMs,
        fullAt: asked + last.fullInMs,
        perMinute: limits.perMinute,
      });
    return shares;
  };

  const run = async (key: string, lane: Lane): Promise<void> => {
    lane.busy = true;
    while (lane.waiting.length > 0 || lane.returned > 0) {
      const waiting = lane.waiting.splice(0);
      const { returned } = lane;
      lane.returned = 0;
      const shares = await takeAll(key, lane.limits, waiting.length, returned);
      waiting.forEach((resolve, index) => {
        const share = shares[index];
        if (share) resolve(share);
      });
    }
    lanes.delete(key);
  };

  const laneOf = (key: string, limits: BucketLimits): Lane => {
    const lane = lanes.get(key) ?? { limits, waiting: [], returned: 0, busy: false };
    lanes.set(key, lane);
    lane.limits = limits;
    return lane;
  };
  const knownEmpty = (key: string, limits: BucketLimits) => {
    const empty = emptyUntil.get(key);
    return empty && performance.now() < empty.until && empty.perMinute === limits.perMinute ? empty : null;
  };

  return {
    isPlentiful: (key) => (own.get(key)?.level ?? 0) >= plenty * partsOfRequest,
    take: (key, limits) => {
      const empty = knownEmpty(key, limits);
      const now = performance.now();
      if (empty)
        return Promise.resolve({
          granted: false,
          remaining: 0,
          fullInMs: Math.ceil(empty.fullAt - now),
          retryInMs: Math.max(1, Math.ceil(empty.until - now)),
        });
      const lane = laneOf(key, limits);
      return new Promise((resolve) => {
        lane.waiting.push(resolve);
        if (!lane.busy) void run(key, lane);
      });
    },
    giveBack: (key, limits) => {
      emptyUntil.delete(key);
      const lane = laneOf(key, limits);
      lane.returned += 1;
      if (!lane.busy) void run(key, lane);
    },
  };
}

/** The update that does what `take` does, in the database. @param now an expression, or milliseconds for a test */
export function takePipeline(limits: BucketLimits, n: number, now: '$$NOW' | Date, returned = 0): Document[] {
  const capacity = limits.burst * partsOfRequest;
  const elapsed = { $max: [0, { $subtract: ['$$now', { $ifNull: ['$at', '$$now'] }] }] };
  return [
    {
      $replaceWith: {
        $let: {
          vars: { now: { $toDouble: { $toLong: now } } },
          in: {
            $let: {
              vars: {
                level: {
                  $min: [
                    capacity,
                    {
                      $add: [
                        { $ifNull: ['$level', capacity] },
                        { $multiply: [elapsed, limits.perMinute] },
                        returned * partsOfRequest,
                      ],
                    },
                  ],
                },
              },
              in: {
                $let: {
                  vars: { granted: { $min: [n, { $floor: { $divide: ['$$level', partsOfRequest] } }] } },
                  in: {
                    _id: '$_id',
                    level: { $subtract: ['$$level', { $multiply: ['$$granted', partsOfRequest] }] },
                    at: { $max: ['$$now', { $ifNull: ['$at', '$$now'] }] },
                    granted: '$$granted',
                    expires_at: { $add: [now, Math.ceil(capacity / limits.perMinute) + 60_000] },
                  },
                },
              },
            },
          },
        },
      },
    },
  ];
}
