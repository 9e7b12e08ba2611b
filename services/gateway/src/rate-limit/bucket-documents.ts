// A token bucket as MongoDB stores it, and the update that takes from it there.
import { defineCollection, type Document } from '@lead-scoring/read-model';
import { partsOfRequest, type Bucket, type BucketLimits } from './token-bucket.js';

interface BucketDocument extends Bucket {
  _id: string;
  /** The number of requests that the last update granted. */
  granted: number;
  /** The time at which the bucket is full again: a full bucket needs no document. */
  expires_at: Date;
}

export const buckets = defineCollection<BucketDocument>({
  name: 'rate_limit_buckets',
  indexes: [],
  isLasting: true,
});

/** The update that computes `take` in the database. @param now the database's time, or a fixed time for a test */
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
