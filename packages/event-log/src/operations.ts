// What operators ask of the log: lag, rights, copies, rebuilding a read model.
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
import { unavailable } from './kafka/access-errors.js';
import { EventLogUnavailable } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { readReplication, type Replication } from './replication.js';
import { pause } from './timing.js';
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
