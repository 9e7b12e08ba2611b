// Unreadable records of the history, against real brokers: folding halts at them unless an operator skips them.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { internals, type EventLog } from './event-log.js';
import { takingAll, type InputTable } from './inputs.js';
import type { ProcessorStatus } from './processor-options.js';
import { createProjector } from './projector.js';
import {
  createRuleset,
  createStores,
  logger,
  putRaw,
  removeNamespace,
  rulesetsInStores,
  rulesetState,
  startProcessor,
  startWriter,
  type Store,
  storeOf,
  testLog,
} from './testing/test-support.js';

const logs: EventLog[] = [];
const running: { stop(): Promise<void> }[] = [];
let log: EventLog;

/** The same log with `skippedRecords`. */
async function logThatSkips(...skippedRecords: string[]): Promise<EventLog> {
  const { namespace } = log.config;
  const other = testLog({ partitions: 1, namespace, skippedRecords });
  logs.push(other);
  await other.prepare();
  return other;
}

beforeEach(async () => {
  log = testLog({ partitions: 1 });
  logs.push(log);
  await log.prepare();
}, 60_000);

afterEach(async () => {
  await stopAll();
  await removeNamespace(log);
  await Promise.all(logs.splice(0).map((one) => one.close()));
}, 30_000);

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((one) => one.stop()));
}

async function start(on: EventLog, stores: Map<number, Store>): Promise<ProcessorStatus> {
  const processor = await startProcessor(on, stores);
  running.push(processor);
  return processor.status;
}

async function startProjector(
  on: EventLog,
  stores: Map<number, Store>,
  inputs: InputTable = takingAll('scoring.events'),
): Promise<ProcessorStatus> {
  const { value: status, stop } = await createProjector(on, {
    name: 'share-explanations',
    inputs,
    logger,
    onFatal: (error) => {
      throw error;
    },
    open: (partition) => {
      const state = rulesetState(stores, partition);
      return Promise.resolve({
        checkpoint: () => state.checkpoint(),
        reset: (touch) => state.reset(touch),
        fold: (records) => {
          storeOf(stores, partition).folds += records.length;
          return Promise.resolve();
        },
        store: (at) => state.store(at, new AbortController().signal),
      });
    },
  }).start();
  running.push({ stop });
  return status;
}

const runs = (status: ProcessorStatus) =>
  eventually('it runs', () => status.ready() && status.partitions().length === 1, 40_000);
const halted = (status: ProcessorStatus) =>
  eventually('the partition is halted', () => status.partitions()[0]?.halted, 40_000);

/** Two rulesets on the log, followed by an unreadable record; returns its offset. */
async function historyWithJunk(stores: Map<number, Store>): Promise<number> {
  const status = await start(log, stores);
  await runs(status);
  const { value: writer, stop } = await startWriter(log);
  await writer.write([createRuleset({ partition: 0 }), createRuleset({ partition: 0 })]);
  await eventually('they are folded', () => rulesetsInStores(stores).size === 2);
  await stop();
  await stopAll();
  await putRaw(log, 'scoring.events', [{ partition: 0, value: '{}', headers: { type: 'RulesetCreated' } }]);
  const admin = log[internals].kafka.admin();
  await admin.connect();
  const [end] = await admin.fetchTopicOffsets(log[internals].wire('scoring.events'));
  await admin.disconnect();
  return Number(end?.offset) - 1;
}

test('a service with an unreadable own record is halted and names it, until an operator skips it', async () => {
  const stores = createStores();
  const offset = await historyWithJunk(stores);
  const name = `scoring.events:0:${String(offset)}`;
  const before = storeOf(stores, 0).checkpoint.offset;

  const status = await start(log, stores);
  const message = await halted(status);
  expect(message).toContain(
    `the record ${name} cannot be read: it is not in the schema registry's wire format`,
  );
  expect(message).toContain(`SKIP_RECORDS=${name}`);
  expect(status.ready()).toBe(false);
  expect(storeOf(stores, 0).checkpoint.offset).toBe(before);
  await stopAll();

  const skipping = await start(await logThatSkips(name), stores);
  await runs(skipping);
  await eventually('it has gone on', () => storeOf(stores, 0).checkpoint.offset > BigInt(offset));
  expect(rulesetsInStores(stores).size).toBe(2);
}, 120_000);

test('a projector is halted at an unreadable record, and skipping another record does not help', async () => {
  const offset = await historyWithJunk(createStores());
  const name = `scoring.events:0:${String(offset)}`;
  const stores = createStores();

  const status = await startProjector(await logThatSkips(`scoring.events:0:${String(offset + 1)}`), stores);
  expect(await halted(status)).toContain(`the record ${name} cannot be read`);
  expect(storeOf(stores, 0).checkpoint.positions['scoring.events'] ?? 0n).toBeLessThanOrEqual(BigInt(offset));
  await stopAll();

  await runs(await startProjector(await logThatSkips(name), stores));
  await eventually(
    'it has gone on',
    () => (storeOf(stores, 0).checkpoint.positions['scoring.events'] ?? 0n) > BigInt(offset),
  );
  expect(storeOf(stores, 0).folds).toBe(2);
}, 120_000);

test('a projector passes an unreadable record of a type that it ignores', async () => {
  const offset = await historyWithJunk(createStores());
  const stores = createStores();
  const inputs = takingAll('scoring.events');
  const ignoring = {
    'scoring.events': { ...inputs['scoring.events'], RulesetCreated: 'ignored' },
  } as InputTable;

  await runs(await startProjector(log, stores, ignoring));
  await eventually(
    'it has gone on',
    () => (storeOf(stores, 0).checkpoint.positions['scoring.events'] ?? 0n) > BigInt(offset),
  );
  expect(storeOf(stores, 0).folds).toBe(0);
}, 120_000);
