// A backup on a real broker: every record comes back at its offset, past markers, aborted records and commands that were decided; what is
// not decided yet is kept; an interrupted restoration keeps services away and is begun anew.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { leadIdOf, records as declarations, type TopicName } from '@lead-scoring/contracts';
import type { Admin, Producer, Transaction } from 'kafkajs';
import { isFullSize } from '@lead-scoring/platform/full-size';
import { readGroupPlaces } from '../erasure/group-offsets.js';
import { restorationTopic } from '../erasure/lock.js';
import { internals, type EventLog } from '../event-log.js';
import { positionsHeader } from '../input-positions.js';
import { readUntil, type RawRecord } from '../kafka/partition-reader.js';
import { encodeRecord } from '../outgoing.js';
import { outgoing, type OutgoingRecord } from '../records.js';
import { ouId, removeNamespace, testLog } from '../testing/test-support.js';
import { pause } from '../timing.js';
import { backUpLog } from './back-up.js';
import { restoreLog } from './restore.js';

const at = '2026-01-31T09:30:00.000Z';
const group = `consumer-${randomUUID()}`;
let log: EventLog;
let other: EventLog;
let admin: Admin;
let producer: Producer;
let folder: string;

beforeAll(async () => {
  [log, other] = [testLog({ partitions: 1 }), testLog({ partitions: 1 })];
  await log.prepare();
  folder = join(await mkdtemp(join(tmpdir(), 'backup-')), 'whole');
  const { kafka } = log[internals];
  admin = kafka.admin();
  producer = kafka.producer({
    transactionalId: `${log.config.namespace}.backup-test`,
    maxInFlightRequests: 1,
  });
  await Promise.all([admin.connect(), producer.connect()]);
}, 60_000);

afterAll(async () => {
  await producer.disconnect();
  await admin.disconnect();
  await Promise.all([log, other].map(removeNamespace));
  await rm(join(folder, '..'), { recursive: true, force: true });
}, 60_000);

function deleted(address: string, headers: Record<string, string> = {}): OutgoingRecord {
  const lead_id = leadIdOf(ouId, 'email', address);
  return outgoing(declarations.leadDeleted, {
    key: lead_id,
    partition: 0,
    headers,
    payload: { ou_id: ouId, lead_id, deletion_id: randomUUID(), deleted_by: randomUUID(), deleted_at: at },
  });
}

function command(): OutgoingRecord {
  const declaration = declarations.rebuildReadModels.find(({ topic }) => topic === 'ingest.commands');
  if (!declaration) throw new Error('ingest has no RebuildReadModel');
  const rebuild_id = randomUUID();
  return outgoing(declaration, { key: rebuild_id, partition: 0, payload: { rebuild_id } });
}

/** A broker that has just started does not know the coordinators of transactions yet. */
async function begun(): Promise<Transaction> {
  for (const giveUpAt = Date.now() + 30_000; ;)
    try {
      return await producer.transaction();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await pause(200);
    }
}

/** Writes records in a transaction of their own, which leaves a marker behind them. */
async function write(records: readonly OutgoingRecord[], end: 'commit' | 'abort' = 'commit'): Promise<void> {
  const transaction = await begun();
  for (const record of records) {
    const { topic, partition, message } = encodeRecord(log, record, Date.parse(at), {});
    await transaction.send({
      topic,
      messages: [{ ...message, key: String(message.key), partition, timestamp: String(message.timestamp) }],
    });
  }
  await transaction[end]();
}

/** The records that readers see of partition 0, without those that take up an offset. */
async function stored(from: EventLog, name: TopicName): Promise<RawRecord[]> {
  const { connect, wire } = from[internals];
  const topic = wire(name);
  const connection = connect();
  try {
    await connection.open([topic]);
    const end = await connection.offset(topic, 0, 'latest');
    const earliest = await connection.offset(topic, 0, 'earliest');
    const found: RawRecord[] = [];
    if (end === earliest) return found;
    const fetches = readUntil(
      connection,
      { topic, partition: 0, from: earliest },
      ({ nextOffset }) => nextOffset >= end,
      { maxBytes: 1_000_000 },
    );
    for await (const { records } of fetches) found.push(...records);
    return found.filter(({ headers }) => String(headers.type) !== 'RecordErased');
  } finally {
    connection.close();
  }
}

test('every record comes back at its offset', async () => {
  await write([deleted('a@example.com'), deleted('b@example.com')]);
  await write([deleted('never@example.com')], 'abort');
  await write([command(), command()]);
  await write([command(), command(), command()]);
  await write([command()], 'abort');
  // Offsets 0, 1 and 3 of the commands are decided; 4, 5 and those of the next transaction are not.
  await write([deleted('c@example.com', { [positionsHeader]: 'ingest.commands:4' })]);
  await write([command()]);
  await admin.setOffsets({
    groupId: group,
    topic: log[internals].wire('ingest.events'),
    partitions: [{ partition: 0, offset: '2' }],
  });
  const [events, commands] = [await stored(log, 'ingest.events'), await stored(log, 'ingest.commands')];
  expect(events.map(({ offset }) => offset)).toEqual([0n, 1n, 5n]);
  expect(commands.map(({ offset }) => offset)).toEqual([0n, 1n, 3n, 4n, 5n, 9n]);

  let copied = 0;
  const manifest = await backUpLog(log, folder, { onProgress: (offsets) => (copied += offsets) });
  expect(copied).toBeGreaterThanOrEqual(7);
  const saved = (topic: TopicName) =>
    manifest.topics.find((one) => one.topic === topic && one.partition === 0);
  expect(saved('ingest.events')).toMatchObject({ first: 0, end: 7, records: 3 });
  expect(saved('ingest.commands')).toMatchObject({ first: 4, end: 11, records: 3 });
  await expect(backUpLog(log, folder)).rejects.toThrow('is not empty: name a new folder');

  await restoreLog(other, folder);
  expect(await stored(other, 'ingest.events')).toEqual(events);
  expect(await stored(other, 'ingest.commands')).toEqual(commands.slice(3));
  await other.prepare();
  const connection = other[internals].connect();
  try {
    const topic = other[internals].wire('ingest.events');
    expect(await readGroupPlaces(connection, group, { topic, partitions: 1 })).toMatchObject([
      { partition: 0, offset: '2' },
    ]);
  } finally {
    connection.close();
  }
  await expect(restoreLog(other, folder)).rejects.toThrow('a restoration never mixes two logs');
}, 120_000);

(isFullSize ? test : test.skip)(
  'an interrupted restoration keeps services away until another one has ended',
  async () => {
    const third = testLog({ partitions: 1 });
    try {
      // As a killed process leaves it.
      await restoreLog(third, folder);
      await admin.createTopics({ topics: [{ topic: restorationTopic(third.config.namespace) }] });
      await expect(third.prepare()).rejects.toMatchObject({ code: 'restore_unfinished' });
      await expect(backUpLog(third, `${folder}-of-part`)).rejects.toThrow('an erasure or a restoration runs');
      await restoreLog(third, folder);
      expect(await stored(third, 'ingest.events')).toEqual(await stored(log, 'ingest.events'));
      await third.prepare();
      // A copy of the copy is the same.
      const again = await backUpLog(third, `${folder}-again`);
      expect(again.topics.reduce((sum, { records }) => sum + records, 0)).toBeGreaterThan(0);
      expect((await readdir(`${folder}-again`)).length).toBe(again.topics.length + 1);
    } finally {
      await removeNamespace(third);
      await admin.deleteTopics({ topics: [restorationTopic(third.config.namespace)] }).catch(() => undefined);
    }
  },
  120_000,
);
