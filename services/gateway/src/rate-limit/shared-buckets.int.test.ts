// The database computes the same as the pure function `take`.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { secretFrom, secretHashOf } from '@lead-scoring/contracts';
import { connectReadModel, uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { eventually } from '@lead-scoring/platform/waiting';
import { createLogger, type ProblemError } from '@lead-scoring/service';
import type { Response } from 'express';
import fc from 'fast-check';
import { createAuthenticator } from '../credentials/authenticate.js';
import { createCredentialDirectory } from '../credentials/directory.js';
import { createDatabaseGate, type DatabaseGate } from '../database-gate.js';
import { tokens } from '../identity/documents.js';
import { idOf } from '../testing/builders.js';
import { buckets, takePipeline } from './bucket-documents.js';
import { takeFromAll } from './limiter.js';
import type { RequestLimit } from './request-limit.js';
import { createSharedBuckets } from './shared-buckets.js';
import { partsOfRequest, take, type Bucket, type BucketLimits } from './token-bucket.js';

const limitOf = (id: string, limits: BucketLimits): RequestLimit => ({ policy: 'credential', id, limits });

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
      fc.array(
        fc.tuple(
          fc.integer({ min: -5_000, max: 100_000 }),
          fc.integer({ min: 0, max: 500 }),
          fc.integer({ min: -300, max: 50 }),
        ),
        { minLength: 1, maxLength: 8 },
      ),
      async (limits, moves) => {
        const _id = `bucket ${String((run += 1))}`;
        let now = 1_800_000_000_000;
        let bucket: Bucket | null = null;
        for (const [step, n, returned] of moves) {
          now += step;
          const stored = await readModel
            .collection(buckets)
            .findOneAndUpdate({ _id }, takePipeline(limits, n, new Date(now), returned), {
              upsert: true,
              returnDocument: 'after',
            });
          const taken = take(bucket, limits, now, n, returned);
          bucket = taken.bucket;
          expect(stored).toMatchObject({ ...taken.bucket, granted: taken.granted });
        }
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

test('two instances that create the same bucket at once grant together no more than it holds', async () => {
  const limits = { perMinute: 1, burst: 8 };
  const instances = [1, 2].map(() => createSharedBuckets(readModel, createDatabaseGate(), logger));
  const granted = await Promise.all(
    Array.from({ length: 300 }, async (_, bucket) => {
      const taken = await Promise.all(
        instances.flatMap((instance) =>
          Array.from({ length: 5 }, () => instance.take(limitOf(`new bucket ${String(bucket)}`, limits))),
        ),
      );
      return taken.filter(({ granted }) => granted).length;
    }),
  );
  expect(granted).toEqual(Array(300).fill(8));
}, 60_000);

describe('a bucket with many requests left', () => {
  test('costs a database update every 100 ms, not one for each request, and every request is taken', async () => {
    const limits = { perMinute: 1, burst: 100_000 };
    const open = createDatabaseGate();
    let updates = 0;
    const gate: DatabaseGate = {
      run: (operation) => {
        updates += 1;
        return open.run(operation);
      },
    };
    const shared = createSharedBuckets(readModel, gate, logger);
    for (let request = 0; request < 2_000; request += 1)
      expect(await shared.take(limitOf('plenty', limits))).toMatchObject({ granted: true });
    expect(updates).toBeLessThan(200);
    await eventually('all are taken', async () => {
      const bucket = await readModel.collection(buckets).findOne({ _id: 'credential:plenty' });
      // One request a minute is refilled.
      return Math.abs((bucket?.level ?? 0) / partsOfRequest - 98_000) <= 1;
    });
  }, 60_000);

  test('that several instances empty at once grants no more than it holds', async () => {
    const limits = { perMinute: 1, burst: 3_000 };
    const instances = [1, 2, 3].map(() => createSharedBuckets(readModel, createDatabaseGate(), logger));
    const granted = await Promise.all(
      instances.flatMap((instance) =>
        Array.from({ length: 20 }, async () => {
          let count = 0;
          for (let request = 0; request < 100; request += 1)
            if ((await instance.take(limitOf('emptied', limits))).granted) count += 1;
          return count;
        }),
      ),
    );
    const total = granted.reduce((sum, count) => sum + count, 0);
    // One request a minute is refilled.
    expect(total).toBeGreaterThanOrEqual(3_000);
    expect(total).toBeLessThanOrEqual(3_001);
  }, 60_000);
});

test('10,000 well-formed guesses cost no read once their address is limited; a credential that was valid before is let in', async () => {
  const limits = { perMinute: 1, burst: 50 };
  const open = createDatabaseGate();
  let reads = 0;
  const gate: DatabaseGate = {
    run: (operation) => {
      reads += 1;
      return open.run(operation);
    },
  };
  const good = secretFrom('lsp_', randomBytes(32));
  await readModel.collection(tokens).insertOne({
    _id: secretHashOf(good),
    organisation_id: uuidToBinary(idOf('organisation')),
    value: {
      kind: 'token',
      id: idOf('good'),
      token_hash: secretHashOf(good),
      role: 'viewer',
      expires_at: null,
      revoked: null,
    },
    partition: 0,
    offset: 0,
  } as never);
  const shared = createSharedBuckets(readModel, gate, logger);
  const authenticator = createAuthenticator(
    createCredentialDirectory(readModel, gate, { has: () => false, memberChange: () => undefined }),
  );
  const address: RequestLimit = { policy: 'address', id: '192.0.2.1', limits };
  const res = { setHeader: () => undefined } as unknown as Response;
  const attempt = (secret: string) =>
    authenticator
      .authenticate(`Bearer ${secret}`, () => takeFromAll(shared, [address], res))
      .then(
        () => 200,
        (error: unknown) => (error as ProblemError).status,
      );
  expect(await attempt(good)).toBe(200);
  const guesses = Array.from({ length: 10_000 }, () => secretFrom('lsp_', randomBytes(32)));
  const first = await Promise.all(guesses.slice(0, 1_000).map(attempt));
  expect(first.filter((status) => status === 401)).toHaveLength(limits.burst);
  expect(first.filter((status) => status === 429)).toHaveLength(950);
  reads = 0;
  const rest = await Promise.all(guesses.slice(1_000).map(attempt));
  expect(new Set(rest)).toEqual(new Set([429]));
  expect(reads).toBe(0);
  expect(await attempt(good)).toBe(200);
}, 60_000);
