// Input positions against real brokers: no record is decided twice, whatever happens to the group's offsets.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { records as declarations, type TopicName } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { listDeadLetters } from './dead-letters.js';
import { internals, type EventLog } from './event-log.js';
import { takingAll } from './inputs.js';
import { endOffsets, listLag } from './operations.js';
import { tail } from './tail.js';
import { createPartitionReader, type RawRecord } from './kafka/partition-reader.js';
import { positionsHeader } from './input-positions.js';
import { ownerHeader, releasedHeader } from './owners.js';
import type { PartitionState, ProcessorOptions } from './processor-options.js';
import { isRecord, outgoing, type IncomingRecord, type OutgoingRecord } from './records.js';
import {
  createRuleset,
  createStores,
  ingestEvents,
  leadDeleted,
  putRaw,
  removeNamespace,
  rulesetsInStores,
  rulesetState,
  startProcessor,
  startWriter,
  type Store,
  testLog,
} from './testing/test-support.js';
import type { RecordWriter } from './writer.js';

let log: EventLog;
let writer: RecordWriter;
let stopWriter: () => Promise<void>;
const running: { stop(): Promise<void> }[] = [];
const inputs: TopicName[] = ['scoring.commands', 'ingest.events'];

beforeEach(async () => {
  log = testLog({ partitions: 1 });
  await log.prepare();
  ({ value: writer, stop: stopWriter } = await startWriter(log));
}, 60_000);

afterEach(async () => {
  await stopAll();
  await stopWriter();
  await removeNamespace(log);
}, 30_000);

async function start(stores: Map<number, Store>, options: Partial<ProcessorOptions> = {}) {
  const processor = await startProcessor(log, stores, { inputs: takingAll(...inputs), ...options });
  running.push(processor);
  await eventually('it runs', () => processor.status.ready() && processor.status.partitions().length === 1);
  return processor;
}

async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((one) => one.stop()));
}

/** Deletes the group's offsets, as Kafka does after a week without members. */
async function forgetGroups(): Promise<void> {
  const admin = log[internals].kafka.admin();
  await admin.connect();
  const { groups } = await admin.listGroups();
  const own = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(`${log.config.namespace}.`));
  expect(own).not.toEqual([]);
  await admin.deleteGroups(own);
  await admin.disconnect();
}

/** Every committed record of a partition, including those that no service gets. */
async function allOf(topic: TopicName): Promise<RawRecord[]> {
  const connection = log[internals].connect();
  await connection.open([log[internals].wire(topic)]);
  const [end] = await endOffsets(log, topic);
  const reader = createPartitionReader(connection, log[internals].wire(topic), 0);
  const found: RawRecord[] = [];
  for (let at = 0n; at < (end?.offset ?? 0n);) {
    const fetched = await reader.fetch(at, { maxBytes: 1_000_000, maxWaitMs: 500 });
    found.push(...fetched.records);
    at = fetched.nextOffset;
  }
  connection.close();
  return found;
}

/** Without claims and releases, of which every start and stop adds one. */
const typesOf = async (topic: TopicName) =>
  (await allOf(topic))
    .filter((record) => !isOfOwner(record))
    .map(({ headers }) => headers.type?.toString() ?? '');

const isOfOwner = ({ headers }: RawRecord) =>
  headers[ownerHeader] !== undefined &&
  (headers[positionsHeader] === undefined || headers[releasedHeader] !== undefined);

const everything = async () => ({
  events: await typesOf('scoring.events'),
  commands: await typesOf('scoring.commands'),
  deadLetters: await typesOf('scoring.dead-letters'),
});

async function positionOf(topic: TopicName): Promise<number> {
  const lags = await listLag(log, 'scoring');
  return Number(lags.find((lag) => lag.topic === topic)?.position ?? -1);
}

/** Writes commands and waits until the group's offsets pass them. */
async function taken(records: OutgoingRecord[]): Promise<void> {
  const written = await writer.write(records);
  const [first] = records;
  if (!first) return;
  const end = Math.max(...written.map(({ offset }) => Number(offset))) + 1;
  await eventually('all is read', async () => (await positionOf(first.declaration.topic)) >= end);
}

describe('after Kafka has deleted the group’s offsets', () => {
  test('no command is decided twice, and nothing is added to any topic', async () => {
    const stores = createStores();
    await start(stores);
    await taken(Array.from({ length: 30 }, () => createRuleset({ partition: 0 })));
    await stopAll();
    const before = await everything();
    await forgetGroups();

    await start(stores);
    await eventually(
      'the group offsets are committed again',
      async () => (await positionOf('scoring.commands')) > 0,
    );
    await stopAll();
    expect(await everything()).toEqual(before);
    expect([...rulesetsInStores(stores).values()]).toEqual(Array.from({ length: 30 }, () => 1));
  }, 60_000);

  test('the last statement is found behind any number of empty transactions', async () => {
    const stores = createStores();
    await start(stores);
    await taken([createRuleset({ partition: 0 })]);
    await stopAll();
    const producer = log[internals].kafka.producer({ transactionalId: `${log.config.namespace}.aborts` });
    await producer.connect();
    for (let at = 0; at < 300; at++) {
      const transaction = await producer.transaction();
      await transaction.send({
        topic: log[internals].wire('scoring.events'),
        messages: [{ partition: 0, value: 'never seen' }],
      });
      await transaction.abort();
    }
    await producer.disconnect();
    const before = await everything();
    await forgetGroups();

    await start(stores);
    await taken([leadDeleted()]);
    await stopAll();
    expect((await everything()).events.filter((type) => type === 'RulesetCreated')).toHaveLength(1);
    expect(before.events.filter((type) => type === 'RulesetCreated')).toHaveLength(1);
  }, 60_000);

  test('commands and dead letters without events are not written twice', async () => {
    /** Decides on one command to another partition, and nothing else. */
    const forwarding = (partition: number): PartitionState => ({
      ...rulesetState(createStores(), partition),
      decide: (incoming: IncomingRecord[]) =>
        Promise.resolve({
          events: [],
          commands: incoming
            .filter((record) => isRecord(record, declarations.leadDeleted))
            .map(() => ({ ...ingestEvents(), partition: 0 })),
        }),
    });
    const options: Partial<ProcessorOptions> = {
      open: (partition) => Promise.resolve(forwarding(partition)),
      commandsTo: ['ingest.commands'],
    };
    await start(createStores(), options);
    await taken([leadDeleted(), leadDeleted()]);
    await putRaw(log, 'scoring.commands', [
      { partition: 0, value: 'no record', headers: { type: 'Nonsense' } },
    ]);
    await eventually('it is parked', async () => (await typesOf('scoring.dead-letters')).length === 1);
    await stopAll();
    const before = { ...(await everything()), sent: await typesOf('ingest.commands') };
    expect(before.sent).toHaveLength(2);
    await forgetGroups();

    await start(createStores(), options);
    await eventually(
      'the group offsets are committed again',
      async () => (await positionOf('ingest.events')) > 0,
    );
    await stopAll();
    expect({ ...(await everything()), sent: await typesOf('ingest.commands') }).toEqual(before);
  }, 60_000);

  test('events that caused no records are not decided again after an orderly stop', async () => {
    let decided = 0;
    const counting = (partition: number): PartitionState => ({
      ...rulesetState(createStores(), partition),
      decide: (incoming: IncomingRecord[]) => {
        decided += incoming.length;
        return Promise.resolve({ events: [] });
      },
    });
    const open = (partition: number) => Promise.resolve(counting(partition));
    await start(createStores(), { open });
    await taken([leadDeleted(), leadDeleted(), leadDeleted()]);
    await stopAll();
    await forgetGroups();
    await start(createStores(), { open });
    await eventually(
      'the group offsets are committed again',
      async () => (await positionOf('ingest.events')) > 0,
    );
    await stopAll();
    expect(decided).toBe(3);
    expect(await typesOf('scoring.events')).toEqual([]);
  }, 60_000);
});

test('group offsets that were set back do not cause records to be decided again', async () => {
  const stores = createStores();
  await start(stores);
  await taken(Array.from({ length: 5 }, () => createRuleset({ partition: 0 })));
  await stopAll();
  const before = await everything();
  const admin = log[internals].kafka.admin();
  await admin.connect();
  await admin.setOffsets({
    groupId: `${log.config.namespace}.scoring`,
    topic: log[internals].wire('scoring.commands'),
    partitions: [{ partition: 0, offset: '0' }],
  });
  await admin.disconnect();

  await start(stores);
  await eventually(
    'the group offsets are committed again',
    async () => (await positionOf('scoring.commands')) >= 5,
  );
  await stopAll();
  expect(await everything()).toEqual(before);
}, 60_000);

test('readers of the topic do not get the records that state positions', async () => {
  await start(createStores());
  await writer.write([outgoing(declarations.setRulesActive, nothingToChange())]);
  await eventually('the positions are stated', async () =>
    (await typesOf('scoring.events')).includes('InputsRead'),
  );
  const seen: string[] = [];
  for await (const { type } of tail(log, 'scoring.events', { from: 'beginning', follow: false }))
    seen.push(type);
  expect(seen).toEqual([]);

  const handled: string[] = [];
  const reading: PartitionState = {
    ...rulesetState(createStores(), 0),
    decide: (incoming) => {
      handled.push(...incoming.map(({ type }) => type));
      return Promise.resolve({ events: [] });
    },
  };
  const processor = await startProcessor(log, createStores(), {
    name: 'notification',
    inputs: takingAll('scoring.events'),
    output: 'notification.events',
    open: () => Promise.resolve(reading),
  });
  running.push(processor);
  const [end] = await endOffsets(log, 'scoring.events');
  await eventually('it has read all', async () => {
    const [lag] = await listLag(log, 'notification');
    return lag !== undefined && lag.position >= (end?.offset ?? 0n);
  });
  expect(handled).toEqual([]);
  const letters: unknown[] = [];
  for await (const letter of listDeadLetters(log, 'notification')) letters.push(letter);
  expect(letters).toEqual([]);
  await stopAll();
  // It does not state having read it: two services that read each other would never become idle.
  expect(await typesOf('notification.events')).toEqual([]);
}, 60_000);

function nothingToChange() {
  const { payload, key } = createRuleset({ partition: 0 });
  const { ou_id, requested_at } = payload as declarations.CreateRuleset;
  return { key, partition: 0, payload: { ou_id, rule_ids: [], requested_at } };
}
