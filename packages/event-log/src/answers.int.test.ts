// A committed command is answered by the process that committed it, also when the process stops or fails to fold its events.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { EventLogError } from './errors.js';
import type { EventLog } from './event-log.js';
import { createRequester, type Requester } from './requester.js';
import {
  countRulesets,
  createRuleset,
  createStores,
  removeNamespace,
  startProcessor,
  startWriter,
  type Store,
  testLog,
} from './testing/test-support.js';
import { tail } from './tail.js';

let log: EventLog;
let requester: Requester;
let stores: Map<number, Store>;
/** Functions that release the held folds, also after a failed test. */
const releases: (() => void)[] = [];
/** Stopped in reverse order. */
const running: { stop(): Promise<void> }[] = [];

beforeEach(async () => {
  log = testLog();
  await log.prepare();
  stores = createStores();
  const writer = await startWriter(log);
  const asking = await createRequester(log, { writer: writer.value }).start();
  requester = asking.value;
  running.push(writer, asking);
}, 60_000);

afterEach(async () => {
  for (const release of releases.splice(0)) release();
  for (const one of running.splice(0).reverse()) await one.stop();
  await removeNamespace(log);
}, 30_000);

/** Starts a processor whose folds go through `fold`. */
async function start(fold: (partition: number) => Promise<void> | void) {
  const processor = await startProcessor(log, stores, {
    faults: { fold: (_events, partition) => fold(partition) },
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= processor.stop());
  running.push({ stop });
  return { ...processor, stop };
}

/** A fold that waits between the commit and the write, and the function that releases it. */
function heldFold() {
  const holding = new Set<number>();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  releases.push(release);
  return {
    holding,
    release,
    beforeFold: (partition: number) => {
      holding.add(partition);
      return released;
    },
  };
}

const ask = (partition: number, timeoutMs: number) => {
  const command = createRuleset({ partition });
  return requester.request({ ...command, headers: { id: command.key } }, { timeoutMs });
};

async function onLog(): Promise<number[]> {
  return [
    ...(await countRulesets(tail(log, 'scoring.events', { from: 'beginning', follow: false }))).values(),
  ];
}

test('a processor that is stopped between commit and fold folds and answers before its stop resolves', async () => {
  const { holding, release, beforeFold } = heldFold();
  const processor = await start(beforeFold);
  const answer = ask(0, 20_000);
  await eventually('a fold is held', () => holding.has(0));
  const stopped = processor.stop();
  release();
  await stopped;
  // No other process exists that could have answered.
  expect(await answer).toMatchObject({ outcome: 'done' });
  expect(await onLog()).toEqual([1]);
}, 40_000);

test('a command whose fold fails after the commit is answered once its processor has folded the event again', async () => {
  let failures = 3;
  const processor = await start(() => {
    failures -= 1;
    if (failures >= 0)
      throw new EventLogError('log_unavailable', 'the database is away', { retriable: true });
  });
  expect(await ask(0, 20_000)).toMatchObject({ outcome: 'done' });
  expect(failures).toBeLessThan(0);
  expect(await onLog()).toEqual([1]);
  expect(processor.fatal).toEqual([]);
}, 40_000);
