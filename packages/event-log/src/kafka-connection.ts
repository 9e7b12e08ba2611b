// The one place that touches kafkajs' protocol layer: leaders, coordinators, and the requests that go to them.
//
// kafkajs' own producer and consumer are not used for records: its producer can resolve a send that it never wrote when
// a leader moves, is wedged for ever by a failed commit, and pays nine round trips a transaction; its consumer couples
// all partitions and stops for good on a TypeError. Its protocol layer underneath is sound, and reachable through the
// cluster that kafkajs hands to a custom partition assigner. docs: README.md, "Why not kafkajs' producer and consumer".
import { Kafka, logLevel } from 'kafkajs';
import type { Logger } from 'pino';
import './request-queue.js';
import { kafkaSecurity } from './access.js';
import { directBroker } from './direct-broker.js';
import { EventLogError, isRetriable } from './errors.js';
import type { EventLogConfig } from './config.js';
import type { Broker, PartitionOffset } from './broker.js';
import { pause } from './timing.js';

interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[];
  findBroker(node: { nodeId: number }): Promise<Broker>;
  getNodeIds(): (number | string)[];
  findGroupCoordinator(group: { groupId: string; coordinatorType: number }): Promise<Broker>;
  fetchTopicsOffset(
    topics: {
      topic: string;
      partitions: { partition: number }[];
      fromBeginning?: boolean;
      fromTimestamp?: number;
    }[],
  ): Promise<{ topic: string; partitions: PartitionOffset[] }[]>;
}

const groupCoordinator = 0;
const transactionCoordinator = 1;

/**
 * A connection of its own to the brokers, for one reader or one writer. It is cheap to throw away: after an error whose
 * outcome is unknown the owner closes it and makes another, and no state of it can be stale.
 */
export interface KafkaConnection {
  /** Connects and learns the leaders of these topics; waits a moment for what only some of the brokers know yet. */
  open(topics: readonly string[]): Promise<void>;
  /** The node that leads a partition as far as is known, undefined when it has none. */
  leaderId(topic: string, partition: number): number | undefined;
  broker(nodeId: number): Promise<Broker>;
  leader(topic: string, partition: number): Promise<Broker>;
  /** The first of the known brokers that can be reached. */
  anyBroker(): Promise<Broker>;
  /** Cached until forgetCoordinators(). */
  groupCoordinator(groupId: string): Promise<Broker>;
  transactionCoordinator(transactionalId: string): Promise<Broker>;
  forgetCoordinators(): void;
  /** Learns the leaders anew. */
  refresh(): Promise<void>;
  /**
   * The first offset still there, the one that will be written next, or the first that was written at a time or later.
   * Waits for a leader that moves as a reader does.
   */
  offset(topic: string, partition: number, which: 'earliest' | 'latest' | Date): Promise<bigint>;
  close(): void;
}

export function createKafka(config: EventLogConfig, logger: Logger): Kafka {
  return new Kafka({
    clientId: config.clientId,
    brokers: config.brokers,
    ...kafkaSecurity(config.access ?? {}),
    connectionTimeout: 4_000,
    requestTimeout: 30_000,
    enforceRequestTimeout: true,
    retry: { initialRetryTime: 50, maxRetryTime: 1_000, retries: 4 },
    logLevel: logLevel.INFO,
    logCreator: () => (entry) => {
      // kafkajs logs what it retries as errors; what matters is told by whoever gives up.
      const { message, ...details } = entry.log;
      const line = { kafkajs: entry.namespace, ...details, timestamp: undefined, stack: undefined };
      if (entry.level <= logLevel.WARN) logger.debug(line, message);
      else logger.trace(line, message);
    },
  });
}

export function createKafkaConnection(kafka: Kafka): KafkaConnection {
  let captured: Cluster | undefined;
  // Never connected, never run: it is made for the cluster that it hands to its assigner.
  kafka.consumer({
    groupId: 'none',
    allowAutoTopicCreation: false,
    partitionAssigners: [
      ({ cluster }) => {
        captured = cluster as unknown as Cluster;
        return {
          name: 'none',
          version: 0,
          assign: () => Promise.resolve([]),
          protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  if (!captured) throw new Error('kafkajs gave its assigner no cluster: this package needs kafkajs 2.2');
  const cluster = captured;
  const coordinators = new Map<string, Promise<Broker>>();
  const directBrokers = new WeakMap<Broker, Broker>();
  let closed = false;

  /** A request that outlives its owner must not connect again. */
  function assertOpen(): void {
    if (closed) throw new EventLogError('closed', 'this connection is closed');
  }

  async function coordinator(kind: number, id: string): Promise<Broker> {
    assertOpen();
    const key = `${kind}:${id}`;
    const known = coordinators.get(key);
    if (known) return known;
    const found = cluster.findGroupCoordinator({ groupId: id, coordinatorType: kind });
    coordinators.set(key, found);
    found.catch(() => coordinators.delete(key));
    return found;
  }

  function leaderId(topic: string, partition: number): number | undefined {
    const leader = cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition)?.leader;
    return leader === undefined || leader < 0 ? undefined : leader;
  }

  async function broker(nodeId: number): Promise<Broker> {
    assertOpen();
    const found = await cluster.findBroker({ nodeId });
    let direct = directBrokers.get(found);
    if (!direct) directBrokers.set(found, (direct = directBroker(found)));
    return direct;
  }

  const connection: KafkaConnection = {
    async open(topics) {
      assertOpen();
      await cluster.connect();
      await askLeader(connection, () => cluster.addMultipleTargetTopics([...topics]), {
        patienceMs: untilKnownMs,
        isPassing: isOfLeader,
      });
    },
    leaderId,
    broker,
    async leader(topic, partition) {
      await cluster.refreshMetadataIfNecessary();
      const nodeId = leaderId(topic, partition);
      if (nodeId === undefined) {
        throw Object.assign(new Error(`${topic} ${partition} has no leader now`), { retriable: true });
      }
      return broker(nodeId);
    },
    async anyBroker() {
      let failure: unknown = new Error('no broker is known');
      for (const nodeId of cluster.getNodeIds()) {
        try {
          return await broker(Number(nodeId));
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
    groupCoordinator: (groupId) => coordinator(groupCoordinator, groupId),
    transactionCoordinator: (transactionalId) => coordinator(transactionCoordinator, transactionalId),
    forgetCoordinators: () => coordinators.clear(),
    async refresh() {
      assertOpen();
      await cluster.refreshMetadata();
    },
    async offset(topic, partition, which) {
      const find = (from: { fromBeginning: boolean } | { fromTimestamp: number }) =>
        askLeader(connection, async () => {
          assertOpen();
          const [found] = await cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], ...from }]);
          const offset = found?.partitions[0]?.offset;
          if (offset === undefined) throw new Error(`${topic} ${partition} has no offsets`);
          return BigInt(offset);
        });
      if (!(which instanceof Date)) return find({ fromBeginning: which === 'earliest' });
      // Brokers refuse a time before 1970, and take the small negative ones for something else.
      const offset = await find({ fromTimestamp: Math.max(0, which.getTime()) });
      // -1: nothing was written that late.
      return offset >= 0n ? offset : find({ fromBeginning: false });
    },
    close() {
      if (closed) return;
      closed = true;
      // It waits for requests under way, up to their time-out; nobody waits for it.
      cluster.disconnect().catch(() => undefined);
    },
  };
  return connection;
}

/** A topic that was made is known to all brokers by then. */
const untilKnownMs = 3_000;

const staleLeader = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'REPLICA_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'OFFSET_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
]);

function isOfLeader(error: unknown): boolean {
  const type = protocolErrorType(error);
  return type !== undefined && staleLeader.has(type);
}

/** Whether another answer may come of asking again. */
export function mayPass(error: unknown): boolean {
  return isOfLeader(error) || isConnectionError(error) || isRetriable(error);
}

/**
 * What a partition's leader answers. While the leader moves or is away, and while a topic is so new that its leader does
 * not know that it is one, the new leader is looked for, up to `patienceMs` or until the signal; then its error is thrown.
 */
export async function askLeader<Answer>(
  connection: KafkaConnection,
  ask: () => Promise<Answer>,
  {
    patienceMs = 10_000,
    signal,
    isPassing = mayPass,
  }: { patienceMs?: number; signal?: AbortSignal; isPassing?: (error: unknown) => boolean } = {},
): Promise<Answer> {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || Date.now() > giveUpAt || signal?.aborted) throw error;
      await pause(100, signal);
      await connection.refresh().catch(() => undefined);
    }
  }
}

/** The name of a Kafka protocol error (NOT_LEADER_FOR_PARTITION, …), wherever in the chain of causes it is. */
export function protocolErrorType(error: unknown): string | undefined {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth++) {
    if ('type' in at && typeof at.type === 'string') return at.type;
    at = 'cause' in at ? at.cause : undefined;
  }
  return undefined;
}

/** Whether a broker was silent: the connection was there, and what it was asked was not answered in time. */
export function isSilence(error: unknown): boolean {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth++) {
    const name = 'name' in at ? at.name : undefined;
    if (name === 'KafkaJSRequestTimeoutError' || name === 'KafkaJSLockTimeout') return true;
    at = 'cause' in at ? at.cause : undefined;
  }
  return false;
}

/** Whether the connection failed or the answer did not come: what was asked may or may not have been done. */
export function isConnectionError(error: unknown): boolean {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < 8; depth++) {
    const name = 'name' in at ? at.name : undefined;
    if (
      name === 'KafkaJSConnectionError' ||
      name === 'KafkaJSConnectionClosedError' ||
      name === 'KafkaJSRequestTimeoutError' ||
      name === 'KafkaJSBrokerNotFound' ||
      name === 'KafkaJSNoBrokerAvailableError' ||
      name === 'KafkaJSMetadataNotLoaded' ||
      name === 'KafkaJSTopicMetadataNotLoaded' ||
      name === 'KafkaJSLockTimeout'
    ) {
      return true;
    }
    at = 'cause' in at ? at.cause : undefined;
  }
  return false;
}
