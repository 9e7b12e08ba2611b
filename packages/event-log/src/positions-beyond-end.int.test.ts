// Truncated and recreated topics, against real brokers: no state is dropped automatically.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { TopicName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { acceptPositions, isBeyondEnd, listPositions } from './accept-positions.js';
import { internals, type EventLog } from './event-log.js';
import { takingAll } from './inputs.js';
import { endOffsets, listLag } from './operations.js';
import { tail } from './tail.js';
import type { ProcessorStatus } from './processor-options.js';
import { createProjector } from './projector.js';
import type { OutgoingRecord } from './records.js';
import {
  countRulesets,
  createRuleset,
  createStores,
  leadDeleted,
  logger,
  removeNamespace,
  rulesetsInStores,
  rulesetState,
  startProcessor,
  startWriter,
  type Store,
  storeOf,
  testLog,
} from './testing/test-support.js';
import type { RecordWriter } from './writer.js';

let log: EventLog;
let writer: RecordWriter;
let stopWriter: () => Promise<void>;
const running: { stop(): Promise<void> }[] = [];

async function openLog(namespace?: string): Promise<void> {
  log = testLog({ partitions: 1, ...(namespace !== undefined && { namespace }) });
  await log.prepare();
  ({ value: writer, stop: stopWriter } = await startWriter(log));
}

beforeEach(() => openLog(), 60_000);

afterEach(async () => {
  await stopAll();
  await stopWriter();
  await removeNamespace(log);
}, 30_000);

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((one) => one.stop()));
}

async function start(stores: Map<number, Store>) {
  const processor = await startProcessor(log, stores);
  running.push(processor);
  return processor;
}

const runs = (status: ProcessorStatus) =>
  eventually('it runs', () => status.ready() && status.partitions().length === 1);

/** The message of the partition once it is halted. */
function halted(status: ProcessorStatus): Promise<string> {
  return eventually('the partition is halted', () => status.partitions()[0]?.halted, 40_000).catch(
    (error: unknown) => {
      throw new Error(JSON.stringify(status.partitions()), { cause: error });
    },
  );
}

async function taken(records: OutgoingRecord[]): Promise<void> {
  const written = await writer.write(records);
  const topic = records[0]?.declaration.topic ?? 'scoring.commands';
  const end = Math.max(...written.map(({ offset }) => Number(offset))) + 1;
  await eventually('all is read', async () => {
    const lags = await listLag(log, 'scoring');
    return Number(lags.find((lag) => lag.topic === topic)?.position ?? -1) >= end;
  });
}

const commands = (count: number) => Array.from({ length: count }, () => createRuleset({ partition: 0 }));
const onLog = () => countRulesets(tail(log, 'scoring.events', { from: 'beginning', follow: false }));
const endOf = async (topic: TopicName) => (await endOffsets(log, topic))[0]?.offset ?? -1n;

/** Recreates the topic empty. */
async function recreate(topic: TopicName): Promise<void> {
  const admin = log[internals].kafka.admin();
  await admin.connect();
  const wired = log[internals].wire(topic);
  await admin.deleteTopics({ topics: [wired] });
  await eventually('it is gone', async () => !(await admin.listTopics()).includes(wired));
  await admin.disconnect();
  const { namespace } = log.config;
  await stopWriter();
  await log.close();
  await eventually('it is there again', async () => {
    await openLog(namespace);
    return true;
  });
}

async function deleteRecordsBefore(topic: TopicName, offset: bigint): Promise<void> {
  const admin = log[internals].kafka.admin();
  await admin.connect();
  // kafkajs finds leaders only for topics that it has requested before.
  await admin.fetchTopicOffsets(log[internals].wire(topic));
  await admin.deleteTopicRecords({
    topic: log[internals].wire(topic),
    partitions: [{ partition: 0, offset: offset.toString() }],
  });
  await admin.disconnect();
}

describe('an input that ends before its next position', () => {
  test('halts the partition, with topic, position and end, until an operator accepts positions', async () => {
    const stores = createStores();
    const { status } = await start(stores);
    await runs(status);
    const before = commands(3);
    await taken(before);
    await stopAll();
    await recreate('scoring.commands');
    const after = commands(2);
    await writer.write(after);

    const { status: again, fatal } = await start(stores);
    expect(await halted(again)).toContain(
      `${log[internals].wire('scoring.commands')} 0 ends at 2, before the next position to read, 3`,
    );
    expect(await halted(again)).toContain('docs/runbooks/positions.md');
    expect(again.ready()).toBe(false);
    expect([...(await onLog()).keys()]).toEqual(before.map(({ key }) => key));
    const [listed] = await listPositions(log, 'scoring');
    expect(listed?.inputs.filter(isBeyondEnd)).toMatchObject([
      { topic: 'scoring.commands', position: 3n, end: 2n },
    ]);

    expect(await acceptPositions(log, 'scoring', { readOn: 'earliest' })).toHaveLength(1);
    await runs(again);
    await eventually('what is there is decided', () => rulesetsInStores(stores).size === 5);
    await stopAll();
    expect(new Set(await onLog())).toEqual(new Set([...before, ...after].map(({ key }) => [key, 1])));
    expect(fatal).toEqual([]);
    expect(storeOf(stores, 0).resets).toBe(0);

    // An operator's statement counts once.
    const { status: later } = await start(stores);
    await runs(later);
    await taken(commands(1));
    await stopAll();
    expect((await onLog()).size).toBe(6);
    expect(await acceptPositions(log, 'scoring', { readOn: 'earliest' })).toEqual([]);
  }, 120_000);

  test('keeps its records undecided when the operator continues at its end', async () => {
    const stores = createStores();
    const { status } = await start(stores);
    await runs(status);
    await taken(commands(3));
    await stopAll();
    await recreate('scoring.commands');
    await writer.write(commands(1));
    const { status: again } = await start(stores);
    await halted(again);
    await acceptPositions(log, 'scoring', { readOn: 'end' });
    await runs(again);
    await taken(commands(1));
    await stopAll();
    expect((await onLog()).size).toBe(4);
  }, 120_000);

  test('an operator’s statement is ignored by a partition that has committed since', async () => {
    const stores = createStores();
    const { status } = await start(stores);
    await runs(status);
    await taken(commands(3));
    await stopAll();
    const { status: again } = await start(stores);
    await runs(again);
    await taken(commands(1));
    await stopAll();
    const events = (await onLog()).size;
    // As written by an operator who saw only the first statement.
    const { declaration, ...record } = staleWord();
    await writer.write([{ declaration, ...record }]);
    const { status: later } = await start(stores);
    await runs(later);
    await taken([leadDeleted()]);
    await stopAll();
    expect((await onLog()).size).toBe(events);
  }, 120_000);
});

function staleWord(): OutgoingRecord {
  const declaration = log[internals].schemas.declarationOf('scoring.events', 'PositionsAccepted');
  if (!declaration) throw new Error('PositionsAccepted is not declared');
  return {
    declaration,
    key: '0',
    partition: 0,
    payload: { accepted_at: '2026-01-31T09:30:00.000Z', inputs: [], output_is_whole: false },
    headers: { positions: 'scoring.commands:0', 'positions-follow': '0' },
  };
}

describe('an output that ends before the stored checkpoint', () => {
  test('halts the partition, and is folded again once an operator declares it whole', async () => {
    const stores = createStores();
    const { status } = await start(stores);
    await runs(status);
    await taken(commands(5));
    await stopAll();
    const stored = storeOf(stores, 0).checkpoint.offset;
    await recreate('scoring.events');

    const { status: again, fatal } = await start(stores);
    expect(await halted(again)).toMatch(
      new RegExp(
        `${log[internals].wire('scoring.events')} 0 ends at \\d+, before the next position to read, \\d+`,
      ),
    );
    expect(storeOf(stores, 0)).toMatchObject({ resets: 0, checkpoint: { offset: stored } });
    expect((await onLog()).size).toBe(0);

    await acceptPositions(log, 'scoring', { readOn: 'end', outputIsWhole: true });
    await runs(again);
    expect(storeOf(stores, 0).resets).toBe(1);
    await taken(commands(1));
    await stopAll();
    expect((await onLog()).size).toBe(1);
    expect(rulesetsInStores(stores).size).toBe(1);
    expect(fatal).toEqual([]);
  }, 120_000);

  test('also halts it without stored state, by the output end in the group’s offsets', async () => {
    const { status } = await start(createStores());
    await runs(status);
    await taken(commands(40));
    // Committed while idle, with the output's end.
    await taken(commands(1));
    await stopAll();
    await recreate('scoring.events');
    const { status: again } = await start(createStores());
    expect(await halted(again)).toContain(log[internals].wire('scoring.events'));
    expect((await onLog()).size).toBe(0);
  }, 120_000);
});

describe('records deleted by retention', () => {
  test('of an input are logged as a loss, and the rest is decided', async () => {
    const stores = createStores();
    const { status } = await start(stores);
    await runs(status);
    await taken(commands(1));
    await stopAll();
    const missed = commands(4);
    await writer.write(missed);
    await deleteRecordsBefore('scoring.commands', 3n);
    const { status: again } = await start(stores);
    await runs(again);
    await eventually('the rest is decided', () => rulesetsInStores(stores).size === 3);
    await stopAll();
    expect((await onLog()).size).toBe(3);
  }, 60_000);

  test('of the output do not change the stored state', async () => {
    const stores = createStores();
    const { status } = await start(stores);
    await runs(status);
    await taken(commands(3));
    await stopAll();
    storeOf(stores, 0).checkpoint = { offset: 1n, positions: {} };
    await deleteRecordsBefore('scoring.events', await endOf('scoring.events'));
    const { status: again } = await start(stores);
    await runs(again);
    await taken(commands(1));
    await stopAll();
    expect(rulesetsInStores(stores).size).toBe(4);
    expect(storeOf(stores, 0).resets).toBe(0);
  }, 60_000);
});

test('a projector whose topic was recreated is halted until its service is rebuilt', async () => {
  const stores = createStores();
  let isRebuilding = false;
  const startProjector = async () => {
    const { value: status, stop } = await createProjector(log, {
      name: 'share-explanations',
      inputs: takingAll('scoring.commands'),
      logger,
      onFatal: (error) => {
        throw error;
      },
      open: (partition) => {
        const state = rulesetState(stores, partition);
        return Promise.resolve({
          checkpoint: () => state.checkpoint(),
          reset: (touch) => state.reset(touch),
          isRebuilding: () => isRebuilding,
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
  };
  const status = await startProjector();
  await runs(status);
  await writer.write(commands(3));
  await eventually(
    'they are folded',
    () => storeOf(stores, 0).checkpoint.positions['scoring.commands'] === 3n,
  );
  await stopAll();
  await recreate('scoring.commands');
  await writer.write(commands(1));
  const again = await startProjector();
  expect(await halted(again)).toContain('ends at 1, before the next position to read, 3');
  expect(storeOf(stores, 0).resets).toBe(0);

  isRebuilding = true;
  await runs(again);
  await eventually(
    'the topic is folded again',
    () => storeOf(stores, 0).checkpoint.positions['scoring.commands'] === 1n,
  );
  expect(storeOf(stores, 0)).toMatchObject({ resets: 1, folds: 4 });
}, 120_000);
