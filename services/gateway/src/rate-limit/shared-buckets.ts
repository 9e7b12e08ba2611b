// The buckets that all gateway instances share, in MongoDB: one atomic update takes for all requests of a credential
// that are waiting together, by the database's clock, so the limit is exact however many instances there are. While a
// bucket holds plenty, requests are granted ahead and taken from it ten times a second, so that a flood does not cost an
// update of the database for every few requests.
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
/** Requests that an instance grants ahead of the next update: twenty instances together cannot empty what is plenty. */
const aheadAtMost = 100;
/** How long requests that were granted ahead stay untaken, in milliseconds. */
const settleEveryMs = 100;
/** What the bucket held is known for so long, in milliseconds: enough for an update after `settleEveryMs`. */
const freshForMs = 250;

/** The takes of one key that this instance has not settled with the database. */
interface Lane {
  limits: BucketLimits;
  waiting: ((taken: Taken) => void)[];
  /** Requests to be put back with the next update. */
  returned: number;
  /** Requests that were granted ahead and are taken with the next update. */
  ahead: number;
  /** Requests that were granted ahead and are being taken by the update under way. */
  settling: number;
  busy: boolean;
  /** Ends the pause before the next update. */
  hurry: () => void;
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
    while (lane.waiting.length + lane.returned + lane.ahead > 0) {
      if (lane.waiting.length + lane.returned === 0) await untilDue(lane);
      const waiting = lane.waiting.splice(0);
      const returned = lane.returned - lane.ahead;
      lane.settling = lane.ahead;
      lane.returned = 0;
      lane.ahead = 0;
      const shares = await takeAll(key, lane.limits, waiting.length, returned);
      lane.settling = 0;
      waiting.forEach((resolve, index) => {
        const share = shares[index];
        if (share) resolve(share);
      });
    }
    lanes.delete(key);
  };

  const laneOf = (key: string, limits: BucketLimits): Lane => {
    const lane = lanes.get(key) ?? newLane(limits);
    lanes.set(key, lane);
    lane.limits = limits;
    return lane;
  };
  const serve = (key: string, lane: Lane): void => {
    if (lane.busy) lane.hurry();
    else void run(key, lane);
  };
  const knownEmpty = (key: string, limits: BucketLimits) => {
    const empty = emptyUntil.get(key);
    return empty && performance.now() < empty.until && empty.perMinute === limits.perMinute ? empty : null;
  };

  /** Requests that this instance has granted ahead since the bucket was last seen. */
  const aheadOf = (key: string): number => {
    const lane = lanes.get(key);
    return lane ? lane.ahead + lane.settling : 0;
  };
  const levelOf = (key: string): number => (own.get(key)?.level ?? 0) - aheadOf(key) * partsOfRequest;
  const isPlentiful = (key: string): boolean => levelOf(key) >= plenty * partsOfRequest;

  /** Grants a request at once where the bucket was seen lately to hold plenty. */
  const takeAhead = (key: string, limits: BucketLimits): Taken | undefined => {
    const seen = own.get(key);
    if (!seen || performance.now() - seen.at > freshForMs || !isPlentiful(key)) return undefined;
    if (aheadOf(key) >= aheadAtMost) return undefined;
    const lane = laneOf(key, limits);
    lane.ahead += 1;
    if (!lane.busy) void run(key, lane);
    return shareOut({ level: levelOf(key), at: seen.at }, limits, 1, 1)[0];
  };

  return {
    isPlentiful,
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
      const granted = takeAhead(key, limits);
      if (granted) return Promise.resolve(granted);
      const lane = laneOf(key, limits);
      return new Promise((resolve) => {
        lane.waiting.push(resolve);
        serve(key, lane);
      });
    },
    giveBack: (key, limits) => {
      emptyUntil.delete(key);
      const lane = laneOf(key, limits);
      lane.returned += 1;
      serve(key, lane);
    },
  };
}

function newLane(limits: BucketLimits): Lane {
  const hurry = () => undefined;
  return { limits, waiting: [], returned: 0, ahead: 0, settling: 0, busy: false, hurry };
}

/** Until requests that were granted ahead are to be taken, or somebody waits for an answer of the database. */
function untilDue(lane: Lane): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, settleEveryMs);
    lane.hurry = () => {
      clearTimeout(timer);
      resolve();
    };
  });
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
                  vars: {
                    granted: {
                      $max: [0, { $min: [n, { $floor: { $divide: ['$$level', partsOfRequest] } }] }],
                    },
                  },
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
