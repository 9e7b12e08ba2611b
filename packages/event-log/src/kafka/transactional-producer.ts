// The producer of one transactional id: it fences its predecessor, then appends records and commits group offsets
// atomically.
import { CoordinatorRequests, stepTimeoutMs } from './coordinator-requests.js';
import { appendAll, partitionName, type AppendBatch, type ProducerIdentity } from './idempotent-appender.js';
import type { KafkaConnection } from './kafka-connection.js';
import { isConnectionError } from './kafka-errors.js';
import type { RecordToWrite } from './record-batch.js';

export interface TransactionContents {
  batches: readonly AppendBatch[];
  /** The group offsets to commit with the records; topics by their wire names. */
  offsets: readonly { topic: string; partition: number; offset: bigint; metadata?: string }[];
}

/** The participants of a transaction. */
export interface Participants {
  partitions: readonly { topic: string; partition: number }[];
  /** Whether the transaction commits group offsets. */
  offsets: boolean;
}

/**
 * After a rejection of `begin` or `commit` the outcome may be unknown: close the connection and fence the same id with
 * another producer, which ends the old transaction, and only then read its outcome.
 */
export interface TransactionalProducer {
  /** Ends the open transaction of a predecessor with the same id, and makes all its later writes fail. */
  fence(): Promise<void>;
  /**
   * Opens the transaction early, so that it overlaps with other work. It stays open until the next commit(): it blocks
   * no reader before something is written, and the brokers abort it after its timeout.
   */
  begin(participants: Participants): Promise<void>;
  /** Ends an open transaction without contents. */
  endOpen(): Promise<void>;
  /** Appends and commits; returns the first offset of each batch. */
  commit(contents: TransactionContents): Promise<bigint[]>;
}

/** Default timeout after which the brokers abort an open transaction, in milliseconds. */
export const transactionTimeoutMs = 15_000;
export interface ProducerOptions {
  transactionalId: string;
  /** The consumer group whose offsets are committed. */
  groupId: string;
  /** Timeout after which the brokers abort an open transaction of this producer, in milliseconds. */
  timeoutMs?: number;
}

export function createTransactionalProducer(
  connection: KafkaConnection,
  options: ProducerOptions,
): TransactionalProducer {
  return new FencingProducer(connection, options);
}

class FencingProducer implements TransactionalProducer {
  #identity: ProducerIdentity | undefined;
  /** The last `begin`; rejected once any `begin` since the last fence was rejected. */
  #begun: Promise<void> = Promise.resolve();
  /** The participants of the open transaction: the group id, and partitions by partitionName. */
  readonly #joined = new Set<string>();
  readonly #transactionCoordinator: CoordinatorRequests;
  readonly #groupCoordinator: CoordinatorRequests;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly options: ProducerOptions,
  ) {
    const { transactionalId, groupId } = options;
    const name = `the coordinator of ${transactionalId}`;
    this.#transactionCoordinator = new CoordinatorRequests(connection, name, () =>
      connection.transactionCoordinator(transactionalId),
    );
    this.#groupCoordinator = new CoordinatorRequests(connection, name, () =>
      connection.groupCoordinator(groupId),
    );
  }

  async fence(): Promise<void> {
    const { transactionalId, timeoutMs = transactionTimeoutMs } = this.options;
    // A repeated request is harmless: each answer only invalidates earlier epochs.
    const { producerId, producerEpoch } = await this.#transactionCoordinator.ask(
      (broker) => broker.initProducerId({ transactionalId, transactionTimeout: timeoutMs }),
      { again: isConnectionError },
    );
    this.#identity = { producerId, producerEpoch, transactionalId, sequences: new Map() };
    this.#begun = Promise.resolve();
    this.#joined.clear();
  }

  begin(participants: Participants): Promise<void> {
    // Sequentially: the coordinator refuses a request while it persists the previous one.
    this.#begun = this.#begun.then(() => this.#join(participants));
    // The next commit throws the rejection; until then it must not count as unhandled.
    this.#begun.catch(() => undefined);
    return this.#begun;
  }

  async endOpen(): Promise<void> {
    await this.#begun;
    if (this.#joined.size > 0) await this.#end();
  }

  async commit({ batches, offsets }: TransactionContents): Promise<bigint[]> {
    await this.begin({ partitions: batches, offsets: offsets.length > 0 });
    const [written] = await Promise.all([
      appendAll(this.connection, this.#current(), batches, stepTimeoutMs),
      offsets.length > 0 ? this.#commitOffsets(offsets) : undefined,
    ]);
    await this.#end();
    return written;
  }

  #current(): ProducerIdentity {
    if (!this.#identity) throw new Error('call fence() before the first transaction');
    return this.#identity;
  }

  #ids() {
    const { producerId, producerEpoch } = this.#current();
    return { transactionalId: this.options.transactionalId, producerId, producerEpoch };
  }

  async #join({ partitions, offsets }: Participants): Promise<void> {
    const ids = this.#ids();
    const { groupId } = this.options;
    if (offsets && !this.#joined.has(groupId)) {
      await this.#transactionCoordinator.ask((broker) => broker.addOffsetsToTxn({ ...ids, groupId }));
      this.#joined.add(groupId);
    }
    const missing = partitions.filter((one) => !this.#joined.has(partitionName(one)));
    if (missing.length === 0) return;
    const topics = partitionsByTopic(missing);
    await this.#transactionCoordinator.ask((broker) => broker.addPartitionsToTxn({ ...ids, topics }));
    for (const one of missing) this.#joined.add(partitionName(one));
  }

  async #commitOffsets(offsets: TransactionContents['offsets']): Promise<void> {
    const ids = this.#ids();
    const topics = offsets.map(({ topic, partition, offset, metadata = null }) => ({
      topic,
      partitions: [{ partition, offset: offset.toString(), metadata }],
    }));
    const { groupId } = this.options;
    await this.#groupCoordinator.ask((broker) => broker.txnOffsetCommit({ ...ids, groupId, topics }));
  }

  async #end(): Promise<void> {
    const ids = this.#ids();
    await this.#transactionCoordinator.ask((broker) => broker.endTxn({ ...ids, transactionResult: true }));
    this.#joined.clear();
  }
}

function partitionsByTopic(
  batches: readonly { topic: string; partition: number }[],
): { topic: string; partitions: number[] }[] {
  const topics = new Map<string, Set<number>>();
  for (const { topic, partition } of batches) {
    const partitions = topics.get(topic);
    if (partitions) partitions.add(partition);
    else topics.set(topic, new Set([partition]));
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions: [...partitions] }));
}

/**
 * Groups messages into batches of one partition each, in order, none above `maxBytes` unless a single message is: a
 * broker refuses a record batch above the topic's max.message.bytes, and a request has one batch of each partition.
 */
export function toBatches(
  messages: readonly { topic: string; partition: number; message: RecordToWrite; bytes: number }[],
  maxBytes: number,
): { batch: AppendBatch; indexes: number[] }[] {
  const open = new Map<string, { batch: AppendBatch; indexes: number[]; bytes: number }>();
  const all: { batch: AppendBatch; indexes: number[] }[] = [];
  messages.forEach(({ topic, partition, message, bytes }, index) => {
    const key = partitionName({ topic, partition });
    let group = open.get(key);
    if (!group || group.bytes + bytes > maxBytes) {
      group = { batch: { topic, partition, messages: [] }, indexes: [], bytes: 0 };
      open.set(key, group);
      all.push(group);
    }
    group.batch.messages.push(message);
    group.indexes.push(index);
    group.bytes += bytes;
  });
  return all;
}
