// What operators ask of the log: lag, tailing a topic, rebuilding a read model.
import { randomUUID } from 'node:crypto';
import {
  type AclBinding,
  readersOf,
  recordsOf,
  topics,
  type ServiceName,
  type TopicName,
} from '@lead-scoring/contracts';
import kafkajs from 'kafkajs';
import { headerText, recordHeaders } from './codec.js';
import { unavailable } from './access-errors.js';
import { EventLogUnavailable } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { isOfLogAlone } from './input-positions.js';
import { createPartitionReader, untilNow, type RawRecord } from './partition-reader.js';
import type { IncomingRecord } from './records.js';
import { readReplication, type Replication } from './replication.js';
import { pause, unlessAborted } from './timing.js';
import { createRecordWriter } from './writer.js';

export interface PartitionLag {
  /** Who reads: the service's processor, which has its name, or one of its projectors. */
  reader: string;
  topic: TopicName;
  partition: number;
  /** Next offset that will be read. */
  position: bigint;
  /** Next offset that will be written. */
  end: bigint;
  /** `end - position`; a commit marker counts as one. */
  lag: bigint;
  /** Records that are gone by their age and were not read. */
  lost: bigint;
}

/** How far a service is behind, for each partition of each topic that its processor and its projectors have read from. */
export async function listLag(log: EventLog, service: ServiceName): Promise<PartitionLag[]> {
  const { kafka, wire } = log[internals];
  const admin = kafka.admin();
  try {
    await admin.connect();
    const lags: PartitionLag[] = [];
    for (const reader of readersOf(service)) {
      const committed = await admin.fetchOffsets({ groupId: `${log.config.namespace}.${reader}` });
      for (const { name } of topics) {
        const found = committed.find(({ topic }) => topic === wire(name));
        if (!found?.partitions.some(({ offset }) => Number(offset) >= 0)) continue;
        const ends = await admin.fetchTopicOffsets(wire(name));
        for (const { partition, high, low } of ends.sort((a, b) => a.partition - b.partition)) {
          const offset = BigInt(found.partitions.find((one) => one.partition === partition)?.offset ?? -1);
          const position = offset < 0n ? BigInt(low) : offset;
          const end = BigInt(high);
          const lag = end > position ? end - position : 0n;
          const lost = position < BigInt(low) ? BigInt(low) - position : 0n;
          lags.push({ reader, topic: name, partition, position, end, lag, lost });
        }
      }
    }
    return lags;
  } catch (error) {
    throw unavailable(`the lag of ${service} cannot be read`, error, log.config.access);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

/** Gives rights, those that there are among them. The log's own user must be allowed to. */
export async function createAcls(log: EventLog, bindings: readonly AclBinding[]): Promise<void> {
  const admin = log[internals].kafka.admin();
  try {
    await admin.connect();
    await admin.createAcls({
      acl: bindings.map(({ principal, resource, name, pattern, operation }) => ({
        resourceType: aclResources[resource],
        resourceName: name,
        resourcePatternType:
          pattern === 'prefixed'
            ? kafkajs.ResourcePatternTypes.PREFIXED
            : kafkajs.ResourcePatternTypes.LITERAL,
        principal,
        host: '*',
        operation: aclOperations[operation],
        permissionType: kafkajs.AclPermissionTypes.ALLOW,
      })),
    });
  } catch (error) {
    throw unavailable('the rights cannot be given', error, log.config.access);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

const aclResources = {
  topic: kafkajs.AclResourceTypes.TOPIC,
  group: kafkajs.AclResourceTypes.GROUP,
  'transactional-id': kafkajs.AclResourceTypes.TRANSACTIONAL_ID,
} as const;

const aclOperations = {
  Read: kafkajs.AclOperationTypes.READ,
  Write: kafkajs.AclOperationTypes.WRITE,
  Create: kafkajs.AclOperationTypes.CREATE,
  Describe: kafkajs.AclOperationTypes.DESCRIBE,
  DescribeConfigs: kafkajs.AclOperationTypes.DESCRIBE_CONFIGS,
} as const;

/** Asks the schema registry for something small. @throws EventLogUnavailable that says what keeps us out of it */
export async function checkSchemaRegistry(log: EventLog): Promise<void> {
  const { status } = await log[internals].registry.ask('GET', '/subjects');
  if (status !== 200)
    throw new EventLogUnavailable(
      `the schema registry answers ${status} to GET /subjects: is SCHEMA_REGISTRY_URL right?`,
    );
}

/** How many copies the log's topics have, and how many they are to have. */
export async function listReplication(log: EventLog): Promise<Replication> {
  const admin = log[internals].kafka.admin();
  try {
    await admin.connect();
    return await readReplication(admin, log.config);
  } catch (error) {
    throw unavailable('the number of copies cannot be read', error, log.config.access);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

/** The next offset that will be written to each of these partitions of a topic; without them, to each that it has. */
export async function endOffsets(
  log: EventLog,
  topic: TopicName,
  partitions: readonly number[] = Array.from({ length: log.config.partitions }, (_, partition) => partition),
): Promise<{ partition: number; offset: bigint }[]> {
  const { connect, wire } = log[internals];
  const connection = connect();
  try {
    await connection.open([wire(topic)]);
    return await Promise.all(
      partitions.map(async (partition) => ({
        partition,
        offset: await connection.offset(wire(topic), partition, 'latest'),
      })),
    );
  } catch (error) {
    throw unavailable(`the end of ${topic} cannot be read`, error, log.config.access);
  } finally {
    connection.close();
  }
}

const tailBytes = 256 * 1024;

/** A record of a tailed topic; `error` says why its payload could not be decoded. */
export type TailedRecord = IncomingRecord & { error?: string };

export interface TailOptions {
  /** Default: the end, what comes from now on. A time: what was written then or later. */
  from?: 'beginning' | 'end' | Date;
  /** Default true: waits for more. False: ends after what is there now. */
  follow?: boolean;
  signal?: AbortSignal;
}

/** The records of a topic, of all partitions; in order within each. */
export async function* tail(
  log: EventLog,
  topic: TopicName,
  options: TailOptions = {},
): AsyncIterable<TailedRecord> {
  const { codec, connect, wire } = log[internals];
  const { from = 'end', follow = true } = options;
  const ending = new AbortController();
  const end = () => {
    ending.abort();
  };
  options.signal?.addEventListener('abort', end);
  if (options.signal?.aborted) end();
  const over = () => ending.signal.aborted;
  // One batch a partition: the next is read when this one is taken.
  const ready: { records: TailedRecord[]; taken: () => void }[] = [];
  const failures: Error[] = [];
  let following = log.config.partitions;
  let wake: () => void = () => undefined;

  async function followPartition(partition: number): Promise<void> {
    const connection = connect();
    try {
      await connection.open([wire(topic)]);
      const reader = createPartitionReader(connection, wire(topic), partition, { signal: ending.signal });
      let offset = await connection.offset(
        wire(topic),
        partition,
        from === 'beginning' ? 'earliest' : from === 'end' ? 'latest' : from,
      );
      const isEnd = follow ? () => false : await untilNow(connection, wire(topic), partition);
      let maxWaitMs = follow ? 500 : 0;
      while (!over()) {
        const fetched = await unlessAborted(
          reader.fetch(offset, { maxBytes: tailBytes, maxWaitMs }),
          ending.signal,
        );
        if (!fetched) return;
        maxWaitMs = 500;
        offset = fetched.nextOffset;
        await codec.loadSchemas(fetched.records);
        const records = fetched.records
          .filter((record) => !isOfLogAlone(record))
          .map((record) => tailed(log, topic, partition, record));
        if (records.length > 0)
          await new Promise<void>((taken) => {
            ready.push({ records, taken });
            wake();
          });
        if (isEnd(fetched)) return;
      }
    } finally {
      connection.close();
    }
  }

  for (let partition = 0; partition < log.config.partitions; partition++) {
    void followPartition(partition)
      .catch((error: unknown) => {
        failures.push(unavailable(`${topic} cannot be read`, error, log.config.access));
      })
      .finally(() => {
        following--;
        wake();
      });
  }
  try {
    while (!over()) {
      const next = ready.shift();
      if (next) {
        yield* next.records;
        next.taken();
      } else {
        const [failure] = failures;
        if (failure) throw failure;
        if (following === 0) return;
        await unlessAborted(
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
          ending.signal,
        );
      }
    }
  } finally {
    end();
    for (const { taken } of ready) taken();
    options.signal?.removeEventListener('abort', end);
  }
}

function tailed(log: EventLog, topic: TopicName, partition: number, record: RawRecord): TailedRecord {
  const decoded = log[internals].codec.decode(topic, partition, record);
  if (!('problem' in decoded)) return decoded;
  const type = headerText(record.headers, 'type') ?? '';
  return {
    type,
    topic,
    partition,
    offset: record.offset,
    key: record.key === null ? null : record.key.toString(),
    payload: null,
    headers: recordHeaders(topic, partition, record, type),
    error: decoded.problem,
  };
}

/**
 * Asks each partition of a service to drop its read models and fold them anew; resolves once the commands are written.
 * A processor has consumed its command when it has folded all; a projector consumes it first, and folds then.
 */
export async function requestRebuild(
  log: EventLog,
  service: ServiceName,
): Promise<{ rebuildId: string; positions: { partition: number; offset: bigint }[] }> {
  const declaration = recordsOf(`${service}.commands`).find(({ type }) => type === 'RebuildReadModel');
  if (!declaration) throw new Error(`${service} has no RebuildReadModel`);
  const rebuildId = randomUUID();
  const { value: writer, stop } = await createRecordWriter(log).start();
  try {
    const positions = await writer.write(
      Array.from({ length: log.config.partitions }, (_, partition) => ({
        declaration,
        key: rebuildId,
        partition,
        payload: { rebuild_id: rebuildId },
      })),
    );
    return { rebuildId, positions: positions.map(({ partition, offset }) => ({ partition, offset })) };
  } finally {
    await stop();
  }
}

/**
 * Waits until a service has handled everything of a topic before these positions, and these themselves.
 * Answers false when the time is over.
 */
export async function waitUntilConsumed(
  log: EventLog,
  service: ServiceName,
  topic: TopicName,
  positions: readonly { partition: number; offset: bigint }[],
  { timeoutMs }: { timeoutMs: number },
): Promise<boolean> {
  const giveUpAt = Date.now() + timeoutMs;
  for (;;) {
    const lags = await listLag(log, service);
    const done = positions.every(({ partition, offset }) => {
      const found = lags.filter((lag) => lag.topic === topic && lag.partition === partition);
      return found.length > 0 && found.every(({ position }) => position > offset);
    });
    if (done) return true;
    if (Date.now() > giveUpAt) return false;
    await pause(100);
  }
}
