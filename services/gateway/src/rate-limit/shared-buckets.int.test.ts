// The database does the same arithmetic as the pure function.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectReadModel, type ReadModel } from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import fc from 'fast-check';
import { createDatabaseGate } from '../database-gate.js';
import { buckets, createSharedBuckets, takePipeline } from './shared-buckets.js';
import { take, type Bucket } from './token-bucket.js';

let readModel: ReadModel;
const logger = createLogger({ name: 'test', level: 'silent' });

beforeAll(async () => {
  readModel = await connectReadModel(
    { uri: process.env.MONGODB_URI ?? '', database: `test-buckets-${randomBytes(5).toString('hex')}` },
    { logger },
  );
});

afterAll(async () => {
  await readModel.db.dropDatabase();
  await readModel.close();
});

test('for any limits, times and clock jumps', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        perMinute: fc.integer({ min: 1, max: 1_000_000 }),
        burst: fc.integer({ min: 1, max: 1_000_000 }),
      }),
      fc.array(fc.tuple(fc.integer({ min: -5_000, max: 100_000 }), fc.integer({ min: 1, max: 500 })), {
        minLength: 1,
        maxLength: 8,
      }),
      async (limits, moves) => {
        const _id = `bucket ${String((run += 1))}`;
        let now = 1_800_000_000_000;
        let bucket: Bucket | null = null;
        for (const [step, n] of moves) {
          now += step;
          const stored = await readModel
            .collection(buckets)
            .findOneAndUpdate({ _id }, takePipeline(limits, n, new Date(now)), {
              upsert: true,
              returnDocument: 'after',
            });
          const taken = take(bucket, limits, now, n);
          bucket = taken.bucket;
          expect(stored).toMatchObject({ ...taken.bucket, granted: taken.granted });
        }
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

test('two instances that make the same bucket at once grant together what it holds', async () => {
  const limits = { perMinute: 1, burst: 8 };
  const instances = [1, 2].map(() => createSharedBuckets(readModel, createDatabaseGate(), logger));
  const granted = await Promise.all(
    Array.from({ length: 300 }, async (_, bucket) => {
      const taken = await Promise.all(
        instances.flatMap((instance) =>
          Array.from({ length: 5 }, () => instance.take(`new bucket ${String(bucket)}`, limits)),
        ),
      );
      return taken.filter(({ granted }) => granted).length;
    }),
  );
  expect(granted).toEqual(Array(300).fill(8));
}, 60_000);
