// A decision that exceeds its transaction timeout, on a running Kafka: it is repeated on fewer records, not for ever.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import type { EventLog } from './event-log.js';
import { tail } from './tail.js';
import type { IncomingRecord } from './records.js';
import {
  countRulesets,
  createRuleset,
  removeNamespace,
  startProcessor,
  startWriter,
  type Store,
  testLog,
} from './testing/test-support.js';
import { pause } from './timing.js';
import type { RecordWriter } from './writer.js';

let log: EventLog;
let writer: { value: RecordWriter; stop(): Promise<void> };
beforeAll(async () => {
  log = testLog({ partitions: 1 });
  await log.prepare();
  writer = await startWriter(log);
}, 60_000);
afterAll(async () => {
  await writer.stop();
  await removeNamespace(log);
}, 60_000);

const nameOf = ({ payload }: IncomingRecord) => (payload as { name?: string }).name;

test('a batch is halved until a decision is in time; a single slow record is decided nevertheless', async () => {
  const sent = Array.from({ length: 16 }, () => createRuleset({ name: 'usual' }));
  sent.push(createRuleset({ name: 'slow' }));
  await writer.value.write(sent);
  const stores = new Map<number, Store>();
  const sizes: number[] = [];
  const processor = await startProcessor(log, stores, {
    transactionTimeoutMs: 3_000,
    maxRecordsPerBatch: 16,
    faults: {
      async decide(records) {
        sizes.push(records.length);
        await pause(records.some((record) => nameOf(record) === 'slow') ? 4_000 : records.length * 200);
      },
    },
  });
  try {
    await eventually('all are folded', () => stores.get(0)?.rulesets.size === sent.length, 60_000);
  } finally {
    await processor.stop();
  }
  expect(sizes.slice(0, 2)).toEqual([16, 8]);
  expect(sizes.slice(-2)).toEqual([1, 1]);
  expect(sizes.length).toBeLessThan(sent.length);
  expect(processor.fatal).toEqual([]);
  const counts = await countRulesets(tail(log, 'scoring.events', { from: 'beginning', follow: false }));
  expect([...counts.values()]).toEqual(sent.map(() => 1));
}, 90_000);
