// Copies the log into a folder: docs/runbooks/backup.md, docs/decisions/0085-a-restored-log-has-every-offset.md
//
// The services are stopped while it is settled up to where each partition is copied, and may start again as soon as that is known: the
// records before stay as they are.
import { mkdir, readdir } from 'node:fs/promises';
import { serviceNames, type ServiceName, type TopicName } from '@lead-scoring/contracts';
import type { Admin } from 'kafkajs';
import { groupIds, assertNobodyReads } from '../erasure/stopped-readers.js';
import { readGroupPlaces } from '../erasure/group-offsets.js';
import { assertUnlocked } from '../erasure/lock.js';
import { recordsBefore } from '../erasure/partition-copy.js';
import { takeTurn } from '../erasure/turn.js';
import { EventLogError } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import type { KafkaConnection } from '../kafka/kafka-connection.js';
import { createPartitionReader } from '../kafka/partition-reader.js';
import type { RawRecord } from '../kafka/record-batch.js';
import { whenKnown } from '../kafka/when-known.js';
import { createStatementReader } from '../stated-positions.js';
import { pause } from '../timing.js';
import {
  backupFormat,
  fileOf,
  savedTopics,
  writeManifest,
  type BackupManifest,
  type SavedGroupOffset,
  type SavedPartition,
} from './manifest.js';
import { writePartitionFile } from './partition-file.js';
import { forEachPlace, type Place } from './places.js';
import { SchemaIds } from './saved-schemas.js';

export interface BackupOptions {
  /** How long to wait for the services to leave, and for their last transactions to end. Default 30 s. */
  patienceMs?: number;
  /** Called when it is settled up to where records are copied: the services may start again. */
  onSettled?(offsets: number): void;
  /** Called with the offsets that were copied since the last call. */
  onProgress?(offsets: number): void;
}

/** A partition, and the end up to which it is copied. */
interface SettledPlace extends Place {
  first: bigint;
  end: bigint;
}

const lookEveryMs = 250;

/**
 * Copies the log of a namespace into a new or empty folder.
 * @throws EventLogError `log_in_use` while services run, `erasure_unfinished`, `restore_unfinished`, `backup_refused` for a folder that has files
 */
export async function backUpLog(
  log: EventLog,
  folder: string,
  options: BackupOptions = {},
): Promise<BackupManifest> {
  const patienceMs = options.patienceMs ?? 30_000;
  await makeFolder(folder);
  const admin = log[internals].kafka.admin();
  try {
    await admin.connect();
    await assertWhole(log, admin);
    const turn = await takeTurn(log, admin, patienceMs);
    try {
      const places = await settle(log, admin, patienceMs);
      const takenAt = new Date().toISOString();
      options.onSettled?.(places.reduce((sum, { first, end }) => sum + Number(end - first), 0));
      const schemas = new SchemaIds();
      const saved = await copyAll({ log, folder, schemas, options }, places);
      const manifest: BackupManifest = {
        format: backupFormat,
        taken_at: takenAt,
        namespace: log.config.namespace,
        partitions: log.config.partitions,
        topics: saved,
        schemas: await schemas.fetch(log[internals].registry),
        groups: await foreignGroups(log, admin, places),
      };
      turn.check();
      await writeManifest(folder, manifest);
      return manifest;
    } finally {
      await turn.end();
    }
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    const { code } = error as { code?: string };
    if (code !== 'EEXIST') throw error;
  });
  if ((await readdir(folder)).length > 0)
    throw new EventLogError(
      'backup_refused',
      `${folder} is not empty: name a new folder, so that no backup is overwritten`,
    );
}

/** @throws EventLogError when the topics are not all there, have other partitions, or are being rewritten */
async function assertWhole(log: EventLog, admin: Admin): Promise<void> {
  const { namespace, partitions } = log.config;
  const there = new Set(await admin.listTopics());
  assertUnlocked(there, namespace);
  const names = savedTopics.map(log[internals].wire);
  if (!names.every((name) => there.has(name)))
    throw new EventLogError(
      'topic_mismatch',
      `Kafka has no topics of the namespace "${namespace}". Is NAMESPACE right, and has the system ever run?`,
    );
  const { topics } = await whenKnown(() => admin.fetchTopicMetadata({ topics: names }));
  for (const { name, partitions: found } of topics)
    if (found.length !== partitions)
      throw new EventLogError(
        'topic_mismatch',
        `topic ${name} has ${found.length} partitions and PARTITIONS is ${partitions}: set PARTITIONS=${found.length}`,
      );
}

/** Finds the end of each partition at a time at which nobody writes. */
async function settle(log: EventLog, admin: Admin, patienceMs: number): Promise<SettledPlace[]> {
  const { namespace, partitions } = log.config;
  const stopped = () => assertNobodyReads(admin, namespace, [], patienceMs);
  const places = savedTopics.flatMap((topic) =>
    Array.from({ length: partitions }, (_, partition): SettledPlace => ({
      topic,
      partition,
      first: 0n,
      end: 0n,
    })),
  );
  await stopped();
  await forEachPlace(log, places, async (connection, place) => {
    place.end = await settledEnd(log, connection, place, patienceMs);
    if (!place.topic.endsWith('.events'))
      place.first = await connection.offset(log[internals].wire(place.topic), place.partition, 'earliest');
  });
  await stopped();
  await forEachPlace(log, places, async (connection, place) => {
    const end = await connection.offset(log[internals].wire(place.topic), place.partition, 'latest');
    if (end !== place.end)
      throw new EventLogError(
        'log_in_use',
        `${place.topic} was written to meanwhile. Stop the services, the gateway among them, and run the command again`,
      );
  });
  return places;
}

/** The end of a partition once no transaction is open in it. A killed process's transaction is ended by the brokers after its timeout. */
async function settledEnd(
  log: EventLog,
  connection: KafkaConnection,
  { topic, partition }: Place,
  patienceMs: number,
): Promise<bigint> {
  const wire = log[internals].wire(topic);
  const reader = createPartitionReader(connection, wire, partition);
  for (const giveUpAt = Date.now() + patienceMs; ;) {
    const end = await connection.offset(wire, partition, 'latest');
    const { highWatermark, stableEnd } = await reader.fetch(end, { maxBytes: 1, maxWaitMs: 0 });
    if (highWatermark === end && stableEnd === end) return end;
    if (Date.now() > giveUpAt)
      throw new EventLogError(
        'log_in_use',
        `a transaction in ${topic} has not ended. A process that was killed leaves one behind for up to a minute: run the command again then`,
      );
    await pause(lookEveryMs);
  }
}

interface Copying {
  log: EventLog;
  folder: string;
  schemas: SchemaIds;
  options: BackupOptions;
}

/** Copies events first, because they say up to where the commands are decided, which need not be kept. */
async function copyAll(copying: Copying, places: readonly SettledPlace[]): Promise<SavedPartition[]> {
  const saved: SavedPartition[] = [];
  const decided = new Map<string, bigint>();
  const isEvents = ({ topic }: Place) => topic.endsWith('.events');
  await forEachPlace(copying.log, places.filter(isEvents), async (connection, place) => {
    const statements = createStatementReader(true);
    saved.push(await copy(copying, connection, place, (records) => statements.take(records)));
    for (const [topic, position] of statements.last()?.positions ?? [])
      if (serviceNames.some((name) => place.topic === `${name}.events` && topic === `${name}.commands`))
        decided.set(`${topic}/${place.partition}`, position);
  });
  const others = places
    .filter((place) => !isEvents(place))
    .map((place) => ({ ...place, first: firstKept(place, decided) }));
  await forEachPlace(copying.log, others, async (connection, place) => {
    saved.push(await copy(copying, connection, place));
  });
  const order = ({ topic, partition }: Place) => savedTopics.indexOf(topic) * 1_000_000 + partition;
  return saved.sort((one, other) => order(one) - order(other));
}

function firstKept(place: SettledPlace, decided: ReadonlyMap<string, bigint>): bigint {
  const position = decided.get(`${place.topic}/${place.partition}`) ?? 0n;
  const first = position > place.first ? position : place.first;
  return first > place.end ? place.end : first;
}

async function copy(
  { log, folder, schemas, options }: Copying,
  connection: KafkaConnection,
  { topic, partition, first, end }: SettledPlace,
  see: (records: readonly RawRecord[]) => void = () => undefined,
): Promise<SavedPartition> {
  const source = { topic: log[internals].wire(topic), partition, from: first, end };
  const seen = async function* () {
    let done = first;
    for await (const records of recordsBefore(connection, source)) {
      for (const record of records) schemas.take(topic, record);
      see(records);
      yield records;
      const last = records.at(-1)?.offset;
      if (last === undefined) continue;
      options.onProgress?.(Number(last + 1n - done));
      done = last + 1n;
    }
    options.onProgress?.(Number(end - done));
  };
  const written = await writePartitionFile(fileOf(folder, { topic, partition }), seen());
  return { topic, partition, first: Number(first), end: Number(end), ...written };
}

/** How far the consumers of others have read. The system's own services know it from their records. */
async function foreignGroups(
  log: EventLog,
  admin: Admin,
  places: readonly SettledPlace[],
): Promise<SavedGroupOffset[]> {
  const { namespace, partitions } = log.config;
  const { connect, wire } = log[internals];
  const groups = (await groupIds(admin)).filter((group) => !group.startsWith(`${namespace}.`));
  const events = serviceNames.map((service: ServiceName): TopicName => `${service}.events`);
  const found: SavedGroupOffset[] = [];
  const connection = connect();
  try {
    await connection.open(events.map(wire));
    for (const group of groups.sort())
      for (const topic of events)
        for (const read of await readGroupPlaces(connection, group, { topic: wire(topic), partitions })) {
          const place = places.find((one) => one.topic === topic && one.partition === read.partition);
          // A consumer may have read on meanwhile.
          const offset = Math.min(Number(read.offset), Number(place?.end ?? 0n));
          found.push({ group, topic, partition: read.partition, offset });
        }
    return found;
  } finally {
    connection.close();
  }
}
