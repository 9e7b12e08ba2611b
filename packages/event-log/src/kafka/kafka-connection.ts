// The only module that uses kafkajs' protocol layer: leaders, coordinators, and the requests to them.
//
// kafkajs' producer and consumer do not carry records: its producer can resolve a send that it never wrote when a
// leader moves, is unusable after a failed commit, and needs nine round trips for a transaction; its consumer couples
// all partitions and stops for good on a TypeError. Its protocol layer is reliable, and reachable through the cluster
// that kafkajs passes to a custom partition assigner. README.md, "Why records bypass kafkajs' producer and consumer".
import { Kafka, logLevel } from 'kafkajs';
import type { Logger } from 'pino';
import './request-queue.js';
import { kafkaSecurity } from './access.js';
import { directBroker } from './direct-broker.js';
import { EventLogError, EventLogUnavailable, isRetriable } from '../errors.js';
import type { EventLogConfig } from '../config.js';
import type { Broker } from './broker.js';
import { clusterOf, type Cluster, type OffsetChoice } from './kafka-cluster.js';
import { isConnectionError, protocolErrorType } from './kafka-errors.js';
import { pause } from '../timing.js';

const groupCoordinator = 0;
const transactionCoordinator = 1;

/**
 * A separate connection to the brokers for one reader or writer. After an error with an unknown outcome its owner
 * closes it and opens another one, so that no state is stale.
 */
export interface KafkaConnection {
  /** Connects and reads the leaders of these topics; waits up to 3 s for topics that not all brokers know yet. */
  open(topics: readonly string[]): Promise<void>;
  /** The id of a partition's leader in the cached metadata; undefined when it has none. */
  leaderId(topic: string, partition: number): number | undefined;
  /** The number of partitions of a topic in the cached metadata. */
  partitionCount(topic: string): number;
  broker(nodeId: number): Promise<Broker>;
  leader(topic: string, partition: number): Promise<Broker>;
  /** The first known broker that can be reached. */
  anyBroker(): Promise<Broker>;
  /** The coordinator is cached until forgetCoordinators(). */
  groupCoordinator(groupId: string): Promise<Broker>;
  transactionCoordinator(transactionalId: string): Promise<Broker>;
  forgetCoordinators(): void;
  /** Reads the leaders again. */
  refresh(): Promise<void>;
  /**
   * The earliest stored offset, the end offset, or the first offset at a time or later. Waits for a moving leader as a
   * reader does.
   */
  offset(topic: string, partition: number, which: 'earliest' | 'latest' | Date): Promise<bigint>;
  close(): void;
}

/** The brokers of a cluster, and how this process names and identifies itself there. */
export type ClusterConfig = Pick<EventLogConfig, 'brokers' | 'clientId' | 'access'>;

export function createKafka(config: ClusterConfig, logger: Logger): Kafka {
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
      // kafkajs logs each retried error; the caller that gives up logs the ones that matter.
      const { message, ...details } = entry.log;
      const line = { kafkajs: entry.namespace, ...details, timestamp: undefined, stack: undefined };
      if (entry.level <= logLevel.WARN) logger.debug(line, message);
      else logger.trace(line, message);
    },
  });
}

/** @param onClose called once, when the connection is closed */
export function createKafkaConnection(
  kafka: Kafka,
  onClose: (connection: KafkaConnection) => void = () => undefined,
): KafkaConnection {
  return new ClusterConnection(clusterOf(kafka), onClose);
}

class ClusterConnection implements KafkaConnection {
  readonly #coordinators = new Map<string, Promise<Broker>>();
  readonly #directBrokers = new WeakMap<Broker, Broker>();
  #isClosed = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly onClose: (connection: KafkaConnection) => void,
  ) {}

  async open(topics: readonly string[]): Promise<void> {
    this.#assertOpen();
    await this.cluster.connect();
    await askLeader(this, () => this.cluster.addMultipleTargetTopics([...topics]), {
      patienceMs: untilKnownMs,
      isRetriableError: isStaleLeader,
    });
  }

  leaderId(topic: string, partition: number): number | undefined {
    const leader = this.cluster
      .findTopicPartitionMetadata(topic)
      .find(({ partitionId }) => partitionId === partition)?.leader;
    return leader === undefined || leader < 0 ? undefined : leader;
  }

  partitionCount(topic: string): number {
    return this.cluster.findTopicPartitionMetadata(topic).length;
  }

  async broker(nodeId: number): Promise<Broker> {
    this.#assertOpen();
    const found = await this.cluster.findBroker({ nodeId });
    let direct = this.#directBrokers.get(found);
    if (!direct) this.#directBrokers.set(found, (direct = directBroker(found)));
    return direct;
  }

  async leader(topic: string, partition: number): Promise<Broker> {
    await this.cluster.refreshMetadataIfNecessary();
    const nodeId = this.leaderId(topic, partition);
    if (nodeId === undefined) throw new EventLogUnavailable(`${topic} ${partition} has no leader now`);
    return this.broker(nodeId);
  }

  async anyBroker(): Promise<Broker> {
    let failure: unknown = new Error('no broker is known');
    for (const nodeId of this.cluster.getNodeIds()) {
      try {
        return await this.broker(Number(nodeId));
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  groupCoordinator(groupId: string): Promise<Broker> {
    return this.#coordinator(groupCoordinator, groupId);
  }

  transactionCoordinator(transactionalId: string): Promise<Broker> {
    return this.#coordinator(transactionCoordinator, transactionalId);
  }

  forgetCoordinators(): void {
    this.#coordinators.clear();
  }

  async refresh(): Promise<void> {
    this.#assertOpen();
    await this.cluster.refreshMetadata();
  }

  async offset(topic: string, partition: number, which: 'earliest' | 'latest' | Date): Promise<bigint> {
    const find = (from: OffsetChoice) => askLeader(this, () => this.#findOffset(topic, partition, from));
    if (!(which instanceof Date)) return find({ fromBeginning: which === 'earliest' });
    // Brokers refuse a time before 1970, and interpret -1 and -2 as special values.
    const offset = await find({ fromTimestamp: Math.max(0, which.getTime()) });
    // -1: no record is that new.
    return offset >= 0n ? offset : find({ fromBeginning: false });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // kafkajs waits for running requests up to their timeout; the caller does not.
    this.cluster.disconnect().catch(() => undefined);
    this.onClose(this);
  }

  async #findOffset(topic: string, partition: number, from: OffsetChoice): Promise<bigint> {
    this.#assertOpen();
    const [found] = await this.cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], ...from }]);
    const offset = found?.partitions[0]?.offset;
    if (offset === undefined) throw new Error(`${topic} ${partition} has no offsets`);
    return BigInt(offset);
  }

  async #coordinator(kind: number, id: string): Promise<Broker> {
    this.#assertOpen();
    const key = `${kind}:${id}`;
    const known = this.#coordinators.get(key);
    if (known) return known;
    const found = this.cluster.findGroupCoordinator({ groupId: id, coordinatorType: kind });
    this.#coordinators.set(key, found);
    found.catch(() => this.#coordinators.delete(key));
    return found;
  }

  /** A request that outlives its owner must not connect again. */
  #assertOpen(): void {
    if (this.#isClosed) throw new EventLogError('closed', 'this connection is closed');
  }
}

/** Milliseconds after which all brokers know a new topic. */
const untilKnownMs = 3_000;

const staleLeaderErrors = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'REPLICA_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'OFFSET_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
]);

function isStaleLeader(error: unknown): boolean {
  const type = protocolErrorType(error);
  return type !== undefined && staleLeaderErrors.has(type);
}

/** Whether a repeated request may succeed. */
export function isTransient(error: unknown): boolean {
  return isStaleLeader(error) || isConnectionError(error) || isRetriable(error);
}

/**
 * Asks a partition's leader. While the leader moves or is away, and while it does not know yet that it leads a new
 * topic, the leaders are read again, for up to `patienceMs` or until the signal is aborted; then the last error is
 * thrown.
 */
export async function askLeader<Answer>(
  connection: KafkaConnection,
  ask: () => Promise<Answer>,
  {
    patienceMs = 10_000,
    signal,
    isRetriableError = isTransient,
  }: { patienceMs?: number; signal?: AbortSignal; isRetriableError?: (error: unknown) => boolean } = {},
): Promise<Answer> {
  const giveUpAt = Date.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isRetriableError(error) || Date.now() > giveUpAt || signal?.aborted) throw error;
      await pause(100, signal);
      await connection.refresh().catch(() => undefined);
    }
  }
}
