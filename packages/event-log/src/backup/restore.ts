// Restores a log from the folder of a backup into a namespace without records: docs/runbooks/backup.md
//
// A topic that exists meanwhile keeps services from starting, and says to a later restoration that the topics are its own, to begin anew.
import { records as declarations, topics, type TopicName } from '@lead-scoring/contracts';
import type { Admin } from 'kafkajs';
import { setGroupPlaces } from '../erasure/group-offsets.js';
import { assertUnlocked, restorationTopic } from '../erasure/lock.js';
import { assertNobodyReads } from '../erasure/stopped-readers.js';
import { removeTopic } from '../erasure/topic-admin.js';
import { takeTurn } from '../erasure/turn.js';
import { EventLogError } from '../errors.js';
import { internals, type EventLog } from '../event-log.js';
import type { RawRecord } from '../kafka/record-batch.js';
import { factorForNewTopics } from '../replication.js';
import { createDeclared } from '../topics.js';
import { checkFiles, fileOf, readManifest, type BackupManifest, type SavedPartition } from './manifest.js';
import { readPartitionFile } from './partition-file.js';
import { forEachPlace } from './places.js';
import { assertRestored, restoreBacklog, restoreEvents, type Filler } from './restored-partition.js';
import { registerSaved, withNewId } from './saved-schemas.js';

export interface RestoreOptions {
  /** How long to wait for services and another restoration to leave. Default 15 s. */
  patienceMs?: number;
  /** Called with the work that begins, and how many units it has: bytes, or offsets. */
  onWork?(work: RestoreWork, units: number): void;
  /** Called with the units that were done since the last call. */
  onProgress?(units: number): void;
}

export type RestoreWork = 'checking the files' | 'writing' | 'checking the log';

export interface RestoreReport {
  manifest: BackupManifest;
  /** Consumer groups of others that could not be set to where they were, because they have members. */
  groupsLeft: string[];
}

/**
 * Restores a log. Call it again after it was interrupted: no service starts before it has ended.
 * @throws EventLogError `backup_damaged`, `backup_refused` where the namespace has records, `erasure_unfinished`, `topic_mismatch`
 */
export async function restoreLog(
  log: EventLog,
  folder: string,
  options: RestoreOptions = {},
): Promise<RestoreReport> {
  const manifest = await readManifest(folder);
  if (manifest.partitions !== log.config.partitions)
    throw new EventLogError(
      'topic_mismatch',
      `the backup has ${manifest.partitions} partitions and PARTITIONS is ${log.config.partitions}: set PARTITIONS=${manifest.partitions}`,
    );
  options.onWork?.(
    'checking the files',
    sumOf(manifest.topics, ({ bytes }) => bytes),
  );
  await checkFiles(folder, manifest, ({ bytes }) => options.onProgress?.(bytes));
  const admin = log[internals].kafka.admin();
  try {
    await admin.connect();
    await makeEmptyTopics(log, admin, options.patienceMs ?? 15_000);
    const turn = await takeTurn(log, admin, options.patienceMs ?? 15_000);
    try {
      await fillTopics({ log, folder, manifest, options, check: () => turn.check() });
      const groupsLeft = await restoreGroups(log, manifest);
      await removeTopic(admin, restorationTopic(log.config.namespace), true);
      return { manifest, groupsLeft };
    } finally {
      await turn.end();
    }
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

/** Makes the topics, with a lock. Topics of a restoration that was interrupted are made anew. */
async function makeEmptyTopics(log: EventLog, admin: Admin, patienceMs: number): Promise<void> {
  const { namespace } = log.config;
  await assertNobodyReads(admin, namespace, [], patienceMs);
  const lock = restorationTopic(namespace);
  const there = new Set(await admin.listTopics());
  assertUnlocked(there, namespace, 'restoration');
  const own = topics.map(({ name }) => log[internals].wire(name)).filter((name) => there.has(name));
  if (!there.has(lock)) {
    await assertEmpty(admin, own, namespace);
    await admin.createTopics({
      topics: [
        { topic: lock, numPartitions: 1, replicationFactor: await factorForNewTopics(admin, log.config) },
      ],
      waitForLeaders: false,
    });
  }
  for (const topic of own) await removeTopic(admin, topic);
  await createDeclared(admin, log.config, new Set());
}

async function assertEmpty(admin: Admin, own: readonly string[], namespace: string): Promise<void> {
  for (const topic of own)
    if ((await admin.fetchTopicOffsets(topic)).some(({ high }) => BigInt(high) > 0n))
      throw new EventLogError(
        'backup_refused',
        `Kafka has records in ${topic} already, and a restoration never mixes two logs: restore into an empty cluster or under another NAMESPACE, or delete the topics of "${namespace}" first`,
      );
}

interface Filling {
  log: EventLog;
  folder: string;
  manifest: BackupManifest;
  options: RestoreOptions;
  /** Throws when another process may have begun the same work. */
  check: () => void;
}

async function fillTopics({ log, folder, manifest, options, check }: Filling): Promise<void> {
  const { registry, wire } = log[internals];
  const ids = await registerSaved(registry, log.config.namespace, manifest.schemas);
  await log.prepareSchemas();
  const restored = (saved: SavedPartition) => ({
    topic: wire(saved.topic),
    partition: saved.partition,
    first: BigInt(saved.first),
    end: BigInt(saved.end),
    records: () => recordsOf(fileOf(folder, saved), ids),
    progress: (offsets: number) => options.onProgress?.(offsets),
  });
  options.onWork?.(
    'writing',
    sumOf(manifest.topics, ({ end }) => end),
  );
  await forEachPlace(log, manifest.topics, async (connection, saved) => {
    check();
    const target = restored(saved);
    const filler = fillerOf(log, saved);
    if (filler) await restoreEvents(connection, target, filler);
    else
      await restoreBacklog(connection, {
        ...target,
        transactionalId: `${log.config.namespace}.restoration.${saved.topic}.${saved.partition}`,
      });
  });
  options.onWork?.(
    'checking the log',
    sumOf(manifest.topics, ({ records }) => records),
  );
  await forEachPlace(log, manifest.topics, (connection, saved) =>
    assertRestored(connection, restored(saved)),
  );
}

/** The record that fills an offset without one; undefined for topics that declare no such record. */
function fillerOf(log: EventLog, { topic, partition }: SavedPartition): Filler | undefined {
  const declaration = declarations.recordErased.find((one) => one.topic === topic);
  if (!declaration) return undefined;
  const content = {
    key: String(partition),
    value: log[internals].codec.encode(declaration, {}),
    headers: { type: declaration.type },
  };
  return (timestamp) => ({ ...content, timestamp });
}

async function* recordsOf(file: string, ids: ReadonlyMap<number, number>): AsyncGenerator<RawRecord[], void> {
  for await (const records of readPartitionFile(file)) yield records.map((record) => withNewId(record, ids));
}

/** Sets the consumers of others to where they were. */
async function restoreGroups(log: EventLog, { groups }: BackupManifest): Promise<string[]> {
  const { connect, wire } = log[internals];
  const left: string[] = [];
  const connection = connect();
  try {
    const read = [...new Set(groups.map(({ topic }) => topic))];
    await connection.open((read.length > 0 ? read : ['gateway.events' as TopicName]).map(wire));
    for (const group of new Set(groups.map((one) => one.group)))
      try {
        for (const topic of read) {
          const places = groups
            .filter((one) => one.group === group && one.topic === topic)
            .map(({ partition, offset }) => ({ partition, offset: String(offset), metadata: '' }));
          if (places.length > 0) await setGroupPlaces(connection, group, { topic: wire(topic), places });
        }
      } catch {
        left.push(group);
      }
    return left;
  } finally {
    connection.close();
  }
}

function sumOf<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + amount(item), 0);
}
