// A call is counted in the database before its count resolves, and once, whatever becomes of the writes.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connectReadModel, ReadModelError, type ReadModel } from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import { eventually } from '@lead-scoring/testing/service-rig';
import type { DatabaseGate } from '../database-gate.js';
import { idOf } from '../testing/builders.js';
import { createCallCounter, type Call } from './call-counter.js';
import { callCounts } from './call-documents.js';

let readModel: ReadModel;
const logger = createLogger({ name: 'test', level: 'silent' });
const call = (n = 0): Call => ({
  organisationId: idOf('organisation'),
  credential: `token:${String(n)}`,
  group: 'Share links',
});
const at = Date.parse('2026-03-01T23:59:59.999Z');

beforeAll(async () => {
  readModel = await connectReadModel(
    { uri: process.env.MONGODB_URI ?? '', database: `test-calls-${randomBytes(5).toString('hex')}` },
    { logger },
  );
});

beforeEach(async () => {
  await readModel.collection(callCounts).deleteMany({});
});

afterAll(async () => {
  await readModel.db.dropDatabase();
  await readModel.close();
});

async function stored(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { credential, day, hours } of await readModel.collection(callCounts).find().toArray())
    for (const [hour, groups] of Object.entries(hours))
      for (const [group, calls] of Object.entries(groups)) {
        const key = `${day.toISOString().slice(0, 10)} ${hour} ${credential} ${group}`;
        counts[key] = (counts[key] ?? 0) + calls;
      }
  return counts;
}

const open: DatabaseGate = { run: (operation) => operation() };

test('a count that has resolved is in the database, with any number of calls and processes at the same time', async () => {
  let now = at;
  const options = { readModel, gate: open, logger, clock: () => now };
  const counters = await Promise.all([
    createCallCounter(options).start(),
    createCallCounter(options).start(),
  ]);
  await Promise.all(
    Array.from({ length: 500 }, async (_, n) => {
      await counters[n % 2 === 0 ? 0 : 1].value.count(call(n % 3));
    }),
  );
  now += 1;
  await counters[0].value.count(call());
  expect(await stored()).toEqual({
    '2026-03-01 23 token:0 Share links': 167,
    '2026-03-01 23 token:1 Share links': 167,
    '2026-03-01 23 token:2 Share links': 166,
    '2026-03-02 0 token:0 Share links': 1,
  });
  for (const counter of counters) await counter.stop();
}, 60_000);

test('a write that is repeated, that fails, or whose outcome is unknown counts no call twice and loses none', async () => {
  let writes = 0;
  let isFaulty = true;
  let counted = 30;
  const faulty: DatabaseGate = {
    run: async (operation) => {
      writes += 1;
      if (!isFaulty) return operation();
      if (writes % 4 === 1) return operation();
      const fault = new ReadModelError('database_unavailable', 'the outcome is not known', true);
      // Not written; written, which the process does not learn; written twice.
      if (writes % 4 === 2) throw fault;
      await operation();
      if (writes % 4 === 3) throw fault;
      return operation();
    },
  };
  const counter = await createCallCounter({ readModel, gate: faulty, logger, clock: () => at }).start();
  for (let n = 0; n < 30; n += 1) await counter.value.count(call());
  // The database is away from the second write on: the others are counted once it is back.
  await eventually(
    'all faults have come',
    async () => {
      await counter.value.count(call());
      counted += 1;
      return writes > 8;
    },
    30_000,
  );
  isFaulty = false;
  await counter.stop();
  expect(await stored()).toEqual({ '2026-03-01 23 token:0 Share links': counted });
}, 60_000);

test('a count resolves not before its write has ended', async () => {
  let finish: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const gate: DatabaseGate = { run: (operation) => held.then(operation) };
  const counter = await createCallCounter({ readModel, gate, logger, clock: () => at }).start();
  let isCounted = false;
  const counted = counter.value.count(call()).then(() => {
    isCounted = true;
  });
  await readModel.collection(callCounts).findOne();
  expect(isCounted).toBe(false);
  finish();
  await counted;
  expect(await stored()).toEqual({ '2026-03-01 23 token:0 Share links': 1 });
  await counter.stop();
});
