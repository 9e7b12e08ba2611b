// Erasing on a real broker: every other record keeps its offset and its bytes, whenever the erasure is killed.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { leadIdOf, namedEventIdOf, records as declarations } from '@lead-scoring/contracts';
import type { Admin, Kafka, Producer } from 'kafkajs';
import { internals, type EventLog } from '../event-log.js';
import { positionsHeader } from '../input-positions.js';
import type { Broker } from '../kafka/broker.js';
import type { RawRecord } from '../kafka/partition-reader.js';
import { ownerHeader } from '../owners.js';
import { createProcessor } from '../processor.js';
import { outgoing, type OutgoingRecord } from '../records.js';
import { tail } from '../tail.js';
import { logger, ouId, removeNamespace, rulesetState, testLog } from '../testing/test-support.js';
import { leadDeleted, storedRecords, writeTransaction, writtenAt } from '../testing/written-records.js';
import { takingAll } from '../inputs.js';
import { eraseLog } from './erase.js';
import { maintenanceOf } from './turn.js';

let log: EventLog;
let admin: Admin;
let producer: Producer;

beforeAll(async () => {
  log = testLog();
  await log.prepare();
  const { kafka } = log[internals];
  admin = kafka.admin();
  producer = kafka.producer({
    transactionalId: `${log.config.namespace}.erasure-test`,
    maxInFlightRequests: 1,
  });
  await Promise.all([admin.connect(), producer.connect()]);
}, 60_000);

afterAll(async () => {
  await producer.disconnect();
  await admin.disconnect();
  await removeNamespace(log);
}, 60_000);

function ingested(address: string, headers: Record<string, string> = {}): OutgoingRecord {
  const lead_id = leadIdOf(ouId, 'email', address);
  return outgoing(declarations.eventsIngested, {
    key: lead_id,
    partition: 0,
    headers,
    payload: {
      ou_id: ouId,
      lead_id,
      batch_id: randomUUID(),
      source: 'ingest',
      fire_triggers: true,
      received_at: writtenAt,
      aliases: [{ alias_kind: 'email', alias: address }],
      events: [
        {
          id: namedEventIdOf(ouId, 'email', address, 'one'),
          event_id: 'one',
          event_type: 'Page View',
          timestamp: writtenAt,
        },
        { id: randomUUID(), event_type: 'Page View', timestamp: writtenAt },
      ],
    },
  });
}

const write = (records: readonly OutgoingRecord[], end?: 'commit' | 'abort') =>
  writeTransaction({ log, producer }, records, end);
const stored = () => storedRecords(log, 'ingest.events');

const typeOf = ({ headers }: RawRecord) => String(headers.type);
const isEmpty = (record: RawRecord) => typeOf(record) === 'RecordErased';

/** The same log, each of whose changes of topics is made by `around`. */
function changing(around: <Answer>(change: () => Promise<Answer>) => Promise<Answer>): EventLog {
  const inside = log[internals];
  const watched = (real: Admin): Admin => ({
    ...real,
    createTopics: (options) => around(() => real.createTopics(options)),
    deleteTopics: (options) => around(() => real.deleteTopics(options)),
    deleteTopicRecords: (options) => around(() => real.deleteTopicRecords(options)),
  });
  const kafka = Object.assign(Object.create(inside.kafka) as Kafka, {
    admin: () => watched(inside.kafka.admin()),
  });
  return { ...log, [internals]: { ...inside, kafka } };
}

/** The same log, whose change number `at` of topics fails: before it is made, or after. */
function failing({ at, isAfter }: { at: number; isAfter: boolean }): EventLog {
  let changes = 0;
  return changing(async (change) => {
    const fails = ++changes === at;
    if (fails && !isAfter) throw new Error('killed');
    const answer = await change();
    if (fails) throw new Error('killed');
    return answer;
  });
}

test('a deleted lead is gone, later events of it are known to be repeats, and every other record is where it was', async () => {
  await write([
    ingested('stay@example.com'),
    ingested('gone@example.com', { [positionsHeader]: 'ingest.commands:4', [ownerHeader]: 'me' }),
  ]);
  await write([ingested('gone@example.com')], 'abort');
  await write([leadDeleted('gone@example.com')]);
  await write([ingested('gone@example.com')]);
  const before = await stored();
  await admin.setOffsets({
    groupId: `consumer-${log.config.namespace}`,
    topic: log[internals].wire('ingest.events'),
    partitions: [{ partition: 0, offset: '4' }],
  });

  const { events } = await eraseLog(log, { isDryRun: true });
  expect(events.find(({ topic }) => topic === 'ingest.events')).toMatchObject({ erased: 1 });
  expect(await stored()).toEqual(before);

  expect((await eraseLog(log)).events.find(({ topic }) => topic === 'ingest.events')).toMatchObject({
    erased: 1,
  });
  const after = await stored();
  // No offset is missing any more: markers and aborted records are filled.
  expect(after.map(({ offset }) => offset)).toEqual(after.map((_, index) => BigInt(index)));
  const [stays, remembered, ...later] = after.filter((record) => !isEmpty(record));
  expect(stays).toEqual(before[0]);
  expect(later).toEqual(before.slice(2));
  const lead_id = leadIdOf(ouId, 'email', 'gone@example.com');
  expect(remembered).toMatchObject({ offset: before[1]?.offset, timestamp: before[1]?.timestamp });
  expect(String(remembered?.headers[positionsHeader])).toBe('ingest.commands:4');
  expect(String(remembered?.headers[ownerHeader])).toBe('me');
  expect(typeOf(remembered as RawRecord)).toBe('EventsRemembered');
  expect(JSON.parse(String(remembered?.value?.subarray(5)))).toEqual({
    ou_id: ouId,
    lead_id,
    event_ids: [namedEventIdOf(ouId, 'email', 'gone@example.com', 'one')],
  });

  // A downstream consumer goes on where it was.
  const [offsets] = await admin.fetchOffsets({
    groupId: `consumer-${log.config.namespace}`,
    topics: [log[internals].wire('ingest.events')],
  });
  expect(offsets?.partitions.find(({ partition }) => partition === 0)?.offset).toBe('4');

  // Nobody who reads the topic is told of what is erased.
  const told: string[] = [];
  for await (const { type, error } of tail(log, 'ingest.events', { from: 'beginning', follow: false }))
    told.push(error ?? type);
  expect(told).toEqual(['EventsIngested', 'EventsRemembered', 'LeadDeleted', 'EventsIngested']);

  // A second time there is nothing to do.
  expect((await eraseLog(log)).events.every(({ erased }) => erased === 0)).toBe(true);
  expect(await stored()).toEqual(after);
}, 120_000);

test('an erasure that is killed at any step is finished by the next one, and no service starts in between', async () => {
  let steps = 0;
  for (let isFinished = false; !isFinished;) {
    steps += 1;
    const address = `round-${String(steps)}@example.com`;
    await write([ingested(address), ingested('stay@example.com')]);
    await write([leadDeleted(address)]);
    const before = await stored();
    const gone = before.filter((record) => String(record.key) === leadIdOf(ouId, 'email', address))[0];
    isFinished = await eraseLog(failing({ at: steps, isAfter: steps % 2 === 0 })).then(
      () => true,
      (error: unknown) => {
        expect(String(error)).toContain('killed');
        return false;
      },
    );
    if (!isFinished && (await admin.listTopics()).includes(`${log.config.namespace}.erasure`))
      await expect(log.prepare()).rejects.toMatchObject({ code: 'erasure_unfinished' });
    await eraseLog(log);
    const after = await stored();
    expect(after.filter(({ offset }) => offset === gone?.offset).map(typeOf)).toEqual(['EventsRemembered']);
    const others = (records: RawRecord[]) =>
      records.filter((record) => record.offset !== gone?.offset && !isEmpty(record));
    expect(others(after)).toEqual(others(before));
    await log.prepare();
  }
  // The lock, the copy, its mark, and the topic: each is made and deleted.
  expect(steps).toBeGreaterThan(8);
  expect(
    (await admin.listTopics()).filter((name) => name.includes(`${log.config.namespace}.erasure`)),
  ).toEqual([]);
}, 400_000);

test('is refused while a service runs, which goes on', async () => {
  const service = await createProcessor(log, {
    name: 'scoring',
    inputs: takingAll('scoring.commands'),
    output: 'scoring.events',
    logger,
    onFatal: () => undefined,
    rebuild: () => Promise.resolve(),
    open: (partition) => Promise.resolve(rulesetState(new Map(), partition)),
  }).start();
  try {
    await expect(eraseLog(log, { patienceMs: 0 })).rejects.toMatchObject({
      code: 'log_in_use',
      message: expect.stringContaining(`${log.config.namespace}.scoring`),
    });
    await log.prepare();
  } finally {
    await service.stop();
  }
}, 60_000);

/** A member of the group that is never heard of again. */
async function joinAsKilledProcess(groupId: string): Promise<void> {
  const connection = log[internals].connect();
  await connection.open([log[internals].wire('gateway.events')]);
  const coordinator = (await connection.groupCoordinator(groupId)) as Broker & {
    joinGroup(request: object): Promise<unknown>;
  };
  await coordinator.joinGroup({
    groupId,
    sessionTimeout: 6_000,
    rebalanceTimeout: 6_000,
    groupProtocols: [{ name: 'none', metadata: Buffer.alloc(0) }],
  });
  connection.close();
}

test('a second one at the same time is refused; a killed one is out of the way after a while', async () => {
  await write([ingested('stay@example.com')]);
  expect(await maintenanceOf(log)).toBeNull();
  let changes = 0;
  let meanwhile: unknown[] = [];
  // The first change makes the lock; before the second, the erasure waits until the other one has its answer.
  const slow = changing(async (change) => {
    if (++changes === 2)
      meanwhile = await Promise.all([
        maintenanceOf(log),
        eraseLog(log, { patienceMs: 0 }).catch((error: unknown) => error),
      ]);
    return change();
  });
  await eraseLog(slow);
  expect(meanwhile).toMatchObject([
    { work: 'erasure', isRunning: true },
    { code: 'log_in_use', message: expect.stringContaining('another') },
  ]);
  await log.prepare();

  await expect(eraseLog(failing({ at: 1, isAfter: true }))).rejects.toThrow('killed');
  expect(await maintenanceOf(log)).toEqual({ work: 'erasure', isRunning: false });
  await joinAsKilledProcess(`${log.config.namespace}.erasure`);
  expect(await maintenanceOf(log)).toEqual({ work: 'erasure', isRunning: true });
  await eraseLog(log);
  expect(await maintenanceOf(log)).toBeNull();
}, 120_000);
