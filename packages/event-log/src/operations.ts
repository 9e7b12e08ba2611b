// Operations for operators: lag, ACLs, replication, rebuilding a read model.
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
import { createPositionWatch, type ReaderPositions } from './position-watch.js';
import { readReplication, type Replication } from './replication.js';
import { createRecordWriter } from './writer.js';

export interface PartitionLag {
  /** The consumer group without its namespace: the service's processor or one of its projectors. */
  reader: string;
  topic: TopicName;
  partition: number;
  /** The next offset to read. */
  position: bigint;
  /** Next offset that will be written. */
  end: bigint;
  /** `end - position`; a commit marker counts as one. */
  lag: bigint;
  /** Records that retention deleted before they were read. */
  lost: bigint;
}

/** The lag of a service, for each partition of each topic that its processor and its projectors have read. */
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
    throw unavailable(`the lag of ${service} cannot be read`, error, log.config);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

/** Creates ACLs; existing ones stay. The log's own user needs the right to do so. */
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
    throw unavailable('the ACLs cannot be created', error, log.config);
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

/** Sends one request to the schema registry. @throws EventLogUnavailable with the setting to change */
export async function checkSchemaRegistry(log: EventLog): Promise<void> {
  const { status } = await log[internals].registry.ask('GET', '/subjects');
  if (status !== 200)
    throw new EventLogUnavailable(
      `the schema registry answers ${status} to GET /subjects: is SCHEMA_REGISTRY_URL right?`,
    );
}

/** The number of replicas that the log's topics have, and the wanted number. */
export async function listReplication(log: EventLog): Promise<Replication> {
  const admin = log[internals].kafka.admin();
  try {
    await admin.connect();
    return await readReplication(admin, log.config);
  } catch (error) {
    throw unavailable('the replication of the topics cannot be read', error, log.config);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
}

/** The end offset of these partitions of a topic; default: all its partitions. */
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
    throw unavailable(`the end of ${topic} cannot be read`, error, log.config);
  } finally {
    connection.close();
  }
}

/**
 * Sends each partition of a service the command to drop its read models and fold them again; resolves once the commands
 * are written. A processor consumes its command after it has folded everything; a projector consumes it first and folds
 * then.
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
 * Waits until a service, its processor and its projectors, has handled the records at these positions and all records before
 * them.
 * @returns false after `timeoutMs`
 */
export async function waitUntilConsumed(
  log: EventLog,
  service: ServiceName,
  topic: TopicName,
  positions: readonly { partition: number; offset: bigint }[],
  { timeoutMs }: { timeoutMs: number },
): Promise<boolean> {
  const watch = createPositionWatch(() => committedPositions(log, service), {
    timeoutMs,
    shortestPauseMs: 100,
  });
  const wanted = positions.map(({ partition, offset }) => ({ partition, offset: offset + 1n }));
  return (await watch.until(topic, wanted)) !== null;
}

/** By partition, how far the last of a service's readers of each topic has committed. */
async function committedPositions(
  log: EventLog,
  service: ServiceName,
): Promise<ReadonlyMap<number, ReaderPositions>> {
  const committed = new Map<number, { positions: Partial<Record<TopicName, bigint>> }>();
  for (const { topic, partition, position } of await listLag(log, service)) {
    const { positions } = committed.get(partition) ?? { positions: {} };
    committed.set(partition, { positions });
    const known = positions[topic];
    if (known === undefined || position < known) positions[topic] = position;
  }
  return committed;
}
