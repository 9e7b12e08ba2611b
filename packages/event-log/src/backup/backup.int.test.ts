// A backup on a real broker: every record comes back at its offset, past markers, aborted records and commands that were decided; what is
// not decided yet is kept; an interrupted restoration keeps services away and is begun anew.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records as declarations, type TopicName } from '@lead-scoring/contracts';
import type { Admin, Producer } from 'kafkajs';
import { isFullSize } from '@lead-scoring/platform/full-size';
import { readGroupPlaces } from '../erasure/group-offsets.js';
import { eraseLog } from '../erasure/erase.js';
import { lockTopic, restorationTopic } from '../erasure/lock.js';
import { maintenanceOf } from '../erasure/turn.js';
import { internals, type EventLog } from '../event-log.js';
import { positionsHeader } from '../input-positions.js';
import type { RawRecord } from '../kafka/partition-reader.js';
import { outgoing, type OutgoingRecord } from '../records.js';
import { removeNamespace, testLog } from '../testing/test-support.js';
import { leadDeleted, storedRecords, writeTransaction } from '../testing/written-records.js';
import { backUpLog } from './back-up.js';
import { restoreLog } from './restore.js';

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

function command(): OutgoingRecord {
  const declaration = declarations.rebuildReadModels.find(({ topic }) => topic === 'ingest.commands');
  if (!declaration) throw new Error('ingest has no RebuildReadModel');
  const rebuild_id = randomUUID();
  return outgoing(declaration, { key: rebuild_id, partition: 0, payload: { rebuild_id } });
}

const write = (records: readonly OutgoingRecord[], end?: 'commit' | 'abort') =>
  writeTransaction({ log, producer }, records, end);

/** The records that readers see of partition 0, without those that take up an offset. */
async function stored(from: EventLog, name: TopicName): Promise<RawRecord[]> {
  const found = await storedRecords(from, name);
  return found.filter(({ headers }) => String(headers.type) !== 'RecordErased');
}

test('every record comes back at its offset', async () => {
  await write([leadDeleted('a@example.com'), leadDeleted('b@example.com')]);
  await write([leadDeleted('never@example.com')], 'abort');
  await write([command(), command()]);
  await write([command(), command(), command()]);
  await write([command()], 'abort');
  // Offsets 0, 1 and 3 of the commands are decided; 4, 5 and those of the next transaction are not.
  await write([leadDeleted('c@example.com', { [positionsHeader]: 'ingest.commands:4' })]);
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

test('an unfinished erasure keeps a restoration away', async () => {
  const erased = testLog({ partitions: 1 });
  const topic = lockTopic(erased.config.namespace);
  try {
    // As a killed process leaves it, which has deleted a topic and not made it again.
    await admin.createTopics({ topics: [{ topic }] });
    await expect(restoreLog(erased, folder)).rejects.toMatchObject({ code: 'erasure_unfinished' });
  } finally {
    await admin.deleteTopics({ topics: [topic] });
  }
});

(isFullSize ? test : test.skip)(
  'an interrupted restoration keeps services away until another one has ended',
  async () => {
    const third = testLog({ partitions: 1 });
    try {
      // As a killed process leaves it.
      await restoreLog(third, folder);
      await admin.createTopics({ topics: [{ topic: restorationTopic(third.config.namespace) }] });
      expect(await maintenanceOf(third)).toEqual({ work: 'restoration', isRunning: false });
      await expect(third.prepare()).rejects.toMatchObject({ code: 'restore_unfinished' });
      const refused = { code: 'restore_unfinished' };
      await expect(backUpLog(third, `${folder}-of-part`)).rejects.toMatchObject(refused);
      await expect(eraseLog(third)).rejects.toMatchObject(refused);
      await restoreLog(third, folder);
      expect(await stored(third, 'ingest.events')).toEqual(await stored(log, 'ingest.events'));
      expect(await maintenanceOf(third)).toBeNull();
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
