// Which process may write to a partition when several claim it, when its owner leaves, and when its owner dies: real brokers.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@lead-scoring/platform/waiting';
import { internals, type EventLog } from './event-log.js';
import { inputsReadRecord, positionsHeader } from './input-positions.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { createPartitionReader } from './kafka/partition-reader.js';
import { ownerHeader, releasedHeader } from './owners.js';
import { JointProducers, type JointProducer } from './processing/joint-producer.js';
import { claimPartition } from './processing/partition-claim.js';
import type { PartitionContext } from './processing/partition-context.js';
import { listDeadLetters } from './dead-letters.js';
import { endOffsets } from './operations.js';
import { ReopenSession } from './session.js';
import { tail } from './tail.js';
import { disturbed } from './testing/disturbed-log.js';
import {
  countRulesets,
  createRuleset,
  createStores,
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
let writer: { value: RecordWriter; stop(): Promise<void> };
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  log = testLog({ partitions: 4 });
  await log.prepare();
  writer = await startWriter(log);
}, 60_000);
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())), 30_000);
afterAll(async () => {
  await writer.stop();
  await removeNamespace(log);
}, 30_000);

/** A process that claims partitions of the output, as the opening of a session does. */
async function claimant(partition: number, on = log) {
  const { connect, wire } = on[internals];
  const topic = wire('scoring.events');
  const groupId = `${log.config.namespace}.scoring`;
  const producers = new JointProducers({ log: on, groupId, topics: [topic], timeoutMs: 15_000 });
  const connection: KafkaConnection = connect();
  await connection.open([topic]);
  let producer: JointProducer | undefined;
  let takenAt = -1n;
  const context = {
    log,
    options: { output: 'scoring.events' },
    partition,
    logger,
    signal: new AbortController().signal,
    touchByBroker: () => undefined,
    owned: {},
  } as unknown as PartitionContext;
  return {
    /** @returns whether the process may write; false: it withdrew and needs a confirmation by the group */
    async open(): Promise<boolean> {
      producer = await producers.current();
      try {
        takenAt = await claimPartition(context, { connection, producer, producers });
        return true;
      } catch (error) {
        if (error instanceof ReopenSession) return false;
        throw error;
      }
    },
    /** Whether the brokers accept a record of this process. */
    async writes(headers: Record<string, string> = {}): Promise<boolean> {
      const { message } = inputsReadRecord(log, { topic: 'scoring.events', partition }, headers);
      return (
        producer?.commit({ batches: [{ topic, partition, messages: [message] }], offsets: [] }).then(
          () => true,
          () => false,
        ) ?? false
      );
    },
    id: () => producer?.id ?? '',
    takenAt: () => takenAt,
    close() {
      producers.close();
      connection.close();
    },
  };
}

const outputEnd = async (partition: number) =>
  (await endOffsets(log, 'scoring.events', [partition]))[0]?.offset ?? 0n;

describe('owners that claim a partition', () => {
  test('that are claimed while the owner lives end with one writer, although one claimant sees the other take it', async () => {
    const [first, second, third] = await Promise.all([0, 1, 2].map(() => claimant(0)));
    if (!first || !second || !third) throw new Error('three were made');
    await first.open();
    const end = await outputEnd(0);
    const secondOpens = second.open();
    await eventually('the second one has claimed it', async () => (await outputEnd(0)) > end);
    const opened = await Promise.all([secondOpens, third.open()]);
    const writers: boolean[] = [];
    for (const one of [first, second, third]) writers.push(await one.writes());
    for (const one of [first, second, third]) one.close();
    expect(opened).toEqual([false, true]);
    // The second one has withdrawn, and its other partitions are not affected.
    expect(writers).toEqual([false, true, true]);
  }, 30_000);

  test('fence an owner that died while it released the partition, so its open transaction blocks no reader', async () => {
    let isGone = false;
    const on = disturbed(log, (request, run) =>
      isGone && request === 'endTxn' ? Promise.reject(new Error('it is gone')) : run(),
    );
    const [leaving, next] = [await claimant(1, on), await claimant(1)];
    await leaving.open();
    isGone = true;
    const last = {
      [ownerHeader]: leaving.id(),
      [positionsHeader]: 'ingest.commands:0',
      [releasedHeader]: 'true',
    };
    expect(await leaving.writes(last)).toBe(false);
    expect(await next.open()).toBe(true);
    const connection = log[internals].connect();
    await connection.open([log[internals].wire('scoring.events')]);
    const reader = createPartitionReader(connection, log[internals].wire('scoring.events'), 1);
    // The brokers would abort the transaction only after 15 seconds or more.
    await eventually(
      'the output can be read up to where it was taken',
      async () =>
        (await reader.fetch(0n, { maxBytes: 1_000_000, maxWaitMs: 10 })).nextOffset > next.takenAt(),
      8_000,
    );
    for (const one of [leaving, next, connection]) one.close();
  }, 30_000);
});

type Running = Awaited<ReturnType<typeof start>>;

async function start(
  stores: Map<number, Store>,
  options: Parameters<typeof startProcessor>[2] & { on?: EventLog } = {},
) {
  const { on = log, ...others } = options;
  const processor = await startProcessor(on, stores, others);
  running.push(processor);
  return processor;
}

/** The partitions that it works on. */
const owned = ({ status }: Running) =>
  status
    .partitions()
    .filter(({ state }) => state === 'running')
    .map(({ partition }) => partition);

async function stop(processor: Running): Promise<void> {
  running.splice(running.indexOf(processor), 1);
  await processor.stop();
}

/** The same log, recording which producers are created or fenced. */
function watched() {
  const producers = new Set<string>();
  const on = disturbed(log, (request, run, sent) => {
    const { transactionalId } = sent as { transactionalId?: string };
    if (request === 'initProducerId' && transactionalId) producers.add(transactionalId);
    return run();
  });
  return { on, producers };
}

/** Writes commands to these partitions; returns their keys. */
async function command(partitions: readonly number[], name = 'usual'): Promise<string[]> {
  const commands = partitions.map((partition) => createRuleset({ partition, name }));
  await writer.value.write(commands);
  return commands.map(({ key }) => key);
}

/** Each of these is on the log once, and folded once. */
async function expectOnceEach(ids: readonly string[], stores: Map<number, Store>): Promise<void> {
  const onLog = await countRulesets(tail(log, 'scoring.events', { from: 'beginning', follow: false }));
  const folded = rulesetsInStores(stores);
  expect(ids.map((id) => [id, onLog.get(id), folded.get(id)])).toEqual(ids.map((id) => [id, 1, 1]));
}

const all = [0, 1, 2, 3];

describe('a partition whose owner', () => {
  test('leaves in order is opened by the next owner without fencing, and the other partitions of both continue', async () => {
    const stores = createStores();
    const [first, second] = [watched(), watched()];
    const leaving = await start(stores, { on: first.on });
    await eventually('the first one has all', () => owned(leaving).length === 4);
    // Owners of earlier tests that the first process has fenced do not count.
    first.producers.clear();
    const ids = await command(all);
    const coming = await start(stores, { on: second.on });
    await eventually('they share', () => owned(leaving).length === 2 && owned(coming).length === 2);
    ids.push(...(await command(all)));
    await eventually('all are folded', () => ids.every((id) => rulesetsInStores(stores).has(id)));
    const kept = owned(leaving);
    expect(kept.map((partition) => storeOf(stores, partition).opened)).toEqual([1, 1]);
    await stop(leaving);
    await eventually('the second one has all', () => owned(coming).length === 4);
    ids.push(...(await command(all)));
    await eventually('all are folded', () => ids.every((id) => rulesetsInStores(stores).has(id)));
    // The second one has made its own producer, and fenced nobody, as it does where nothing is released in time.
    expect([first.producers.size, second.producers.size]).toEqual([0, 1]);
    expect(all.map((partition) => storeOf(stores, partition).opened)).toEqual([2, 2, 2, 2]);
    await expectOnceEach(ids, stores);
    expect([...leaving.fatal, ...coming.fatal]).toEqual([]);
  }, 60_000);

  test('dies in the middle of a transaction is fenced, its transaction is aborted, and nothing is lost or done twice', async () => {
    const stores = createStores();
    let isDying = false;
    let isGone = false;
    const gone = () => Promise.reject(new Error('it is gone'));
    const on = disturbed(log, (request, run) => {
      if (request === 'endTxn' && isDying) isGone = true;
      return isGone ? gone() : run();
    });
    const dying = await start(stores, { on });
    await eventually('it has all', () => owned(dying).length === 4);
    const ids = await command(all);
    await eventually('all are folded', () => ids.every((id) => rulesetsInStores(stores).has(id)));
    isDying = true;
    ids.push(...(await command(all)));
    await eventually('it is gone', () => isGone);
    const next = watched();
    const coming = await start(stores, { on: next.on });
    await stop(dying);
    await eventually('the next one has all', () => owned(coming).length === 4, 30_000);
    ids.push(...(await command(all)));
    await eventually('all are folded', () => ids.every((id) => rulesetsInStores(stores).has(id)));
    // Its own, and the one that it has fenced, once for all partitions.
    expect(next.producers.size).toBe(2);
    await expectOnceEach(ids, stores);
  }, 90_000);
});

describe('the other partitions of a process', () => {
  test('continue while one cannot be opened and the decisions of another one fail', async () => {
    const stores = createStores();
    let isBroken = true;
    const processor = await start(stores, {
      open: (partition) =>
        partition === 0 && isBroken
          ? Promise.reject(Object.assign(new Error('the database is away'), { retriable: true }))
          : Promise.resolve(
              rulesetState(stores, partition, {
                decide: (records) => {
                  if (records.some(({ payload }) => (payload as { name?: string }).name === 'poison'))
                    throw new Error('it cannot be decided');
                },
              }),
            ),
    });
    await eventually('the others run', () => owned(processor).length === 3);
    const opened = () => [2, 3].map((partition) => storeOf(stores, partition).opened);
    const before = opened();
    await command([1], 'poison');
    const ids = await command([1, 2, 3]);
    await eventually('they are folded', () => ids.every((id) => rulesetsInStores(stores).has(id)), 20_000);
    const waiting = await command([0]);
    ids.push(...(await command([1, 2, 3])));
    await eventually('they are folded', () => ids.every((id) => rulesetsInStores(stores).has(id)), 20_000);
    expect(waiting.filter((id) => rulesetsInStores(stores).has(id))).toEqual([]);
    expect(opened()).toEqual(before);
    isBroken = false;
    ids.push(...waiting);
    await eventually('it is folded', () => ids.every((id) => rulesetsInStores(stores).has(id)), 20_000);
    const letters: string[] = [];
    for await (const { reason } of listDeadLetters(log, 'scoring')) letters.push(reason);
    expect(letters).toEqual([expect.stringContaining('it cannot be decided')]);
    await expectOnceEach(ids, stores);
    expect(processor.fatal).toEqual([]);
  }, 90_000);

  test('continue while the decision of one takes seconds', async () => {
    const stores = createStores();
    let isDeciding = false;
    let decide: () => void = () => undefined;
    const decided = new Promise<void>((resolve) => (decide = resolve));
    const processor = await start(stores, {
      faults: {
        async decide(records) {
          if (!records.some(({ payload }) => (payload as { name?: string }).name === 'slow')) return;
          isDeciding = true;
          await decided;
        },
      },
    });
    try {
      await eventually('all run', () => owned(processor).length === 4);
      const slow = await command([0], 'slow');
      await eventually('it is being decided', () => isDeciding);
      const ids = await command([1, 2, 3]);
      await eventually(
        'the others are folded',
        () => ids.every((id) => rulesetsInStores(stores).has(id)),
        8_000,
      );
      ids.push(...(await command([1, 2, 3])));
      await eventually('and again', () => ids.every((id) => rulesetsInStores(stores).has(id)), 8_000);
      decide();
      ids.push(...slow);
      await eventually('it is folded', () => ids.every((id) => rulesetsInStores(stores).has(id)));
      await expectOnceEach(ids, stores);
      expect(all.map((partition) => storeOf(stores, partition).opened)).toEqual([1, 1, 1, 1]);
    } finally {
      decide();
    }
  }, 60_000);
});
