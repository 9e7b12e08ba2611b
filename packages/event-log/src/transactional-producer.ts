// One transactional id's producer: fences its predecessor, then appends records, and input offsets, all or nothing.
import { EventLogUnavailable } from './errors.js';
import {
  byLeader,
  mayAppendAgain,
  partitionName,
  produce,
  takeSequence,
  type AppendBatch,
  type ProducerIdentity,
} from './idempotent-appender.js';
import type { Broker } from './broker.js';
import type { KafkaConnection } from './kafka-connection.js';
import { isConnectionError, protocolErrorType } from './kafka-connection.js';
import type { RecordToWrite } from './record-batch.js';
import { pause } from './timing.js';

export interface TransactionContents {
  batches: readonly AppendBatch[];
  /** The group's offsets that are committed with the records; topics as named on the wire. */
  offsets: readonly { topic: string; partition: number; offset: bigint; metadata?: string }[];
}

/** What takes part in a transaction. */
export interface Participants {
  partitions: readonly { topic: string; partition: number }[];
  /** Whether the group's offsets are committed. */
  offsets: boolean;
}

/** What a transaction's end leaves on a partition that took part in it. */
export interface TransactionMarker {
  producerId: bigint;
  producerEpoch: number;
}

/**
 * After any rejection of `begin` or `commit` the outcome may be unknown: close the connection, make another producer with
 * the same id and fence(), which ends the old transaction one way or the other, and only then read how it ended.
 */
export interface TransactionalProducer {
  /** Ends what a predecessor with the same id left open, and makes every later write of it fail. */
  fence(): Promise<void>;
  /**
   * After fence(): aborts a transaction of this partition and of the group that says nothing, and answers how to tell its
   * marker. Then the group's offsets are read as they are, and whoever reads the partition up to the marker has read all
   * that was ever committed there. No end that a leader tells says as much: one that was elected just now may not know yet
   * what its predecessor has acknowledged.
   */
  mark(place: { topic: string; partition: number }): Promise<(marker: TransactionMarker) => boolean>;
  /**
   * Opens the transaction for these, so that it overlaps with other work. One that is open stays so until the next commit():
   * it holds up no reader as long as nothing is written, and the brokers end it after its time-out.
   */
  begin(participants: Participants): Promise<void>;
  /** Appends and commits; answers the first offset of each batch. */
  commit(contents: TransactionContents): Promise<bigint[]>;
}

/** Milliseconds after which the brokers end a transaction that its producer has left. */
export const transactionTimeoutMs = 15_000;
/** Milliseconds within which each step of a transaction must succeed. */
const stepTimeoutMs = 10_000;

const coordinatorMoved = new Set([
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'NOT_COORDINATOR',
  'COORDINATOR_NOT_AVAILABLE',
  'COORDINATOR_LOAD_IN_PROGRESS',
]);

export function createTransactionalProducer(
  connection: KafkaConnection,
  {
    transactionalId,
    groupId,
    timeoutMs = transactionTimeoutMs,
  }: { transactionalId: string; groupId: string; timeoutMs?: number },
): TransactionalProducer {
  let identity: ProducerIdentity | undefined;
  /** Rejected once anything of it was. */
  let begun: Promise<void> = Promise.resolve();
  /** Who takes part in the transaction that is open: the group, and partitions by partitionName. */
  const joined = new Set<string>();

  function current(): ProducerIdentity {
    if (!identity) throw new Error('fence() comes first');
    return identity;
  }

  /**
   * Asks a coordinator, again while it answers that it did nothing because the last transaction is still being ended or
   * because it has moved. An answer that did not come is thrown: then nobody knows.
   */
  async function ask<Answer>(
    find: () => Promise<Broker>,
    request: (broker: Broker) => Promise<Answer>,
    { again = () => false }: { again?: (error: unknown) => boolean } = {},
  ): Promise<Answer> {
    const giveUpAt = Date.now() + stepTimeoutMs;
    for (let attempt = 0; ; attempt++) {
      try {
        return await request(await find());
      } catch (error) {
        const type = protocolErrorType(error);
        const moved = type !== undefined && coordinatorMoved.has(type);
        if (Date.now() > giveUpAt)
          throw new EventLogUnavailable(`the coordinator of ${transactionalId} stays busy`, error);
        if (type !== 'CONCURRENT_TRANSACTIONS' && !moved && !again(error)) throw error;
        if (type !== 'CONCURRENT_TRANSACTIONS') {
          connection.forgetCoordinators();
          await connection.refresh().catch(() => undefined);
        }
        await pause(type === 'CONCURRENT_TRANSACTIONS' ? Math.min(2 + attempt * 2, 20) : 100);
      }
    }
  }

  const transactionCoordinator = () => connection.transactionCoordinator(transactionalId);
  const groupCoordinator = () => connection.groupCoordinator(groupId);

  async function append(batches: readonly AppendBatch[]): Promise<bigint[]> {
    const producer = current();
    let unwritten = batches.map((batch, index) => ({
      ...batch,
      index,
      firstSequence: takeSequence(producer, batch),
    }));
    const offsets: bigint[] = [];
    const giveUpAt = Date.now() + stepTimeoutMs;
    for (;;) {
      let lastError: unknown;
      // A request holds one batch a partition: further ones of the same partition wait for the next round.
      const next = [
        ...new Map([...unwritten].reverse().map((batch) => [partitionName(batch), batch])).values(),
      ];
      const later = unwritten.filter((batch) => !next.includes(batch));
      const rounds = [...byLeader(connection, next)].map(async ([leader, group]) => {
        try {
          if (leader === undefined)
            throw Object.assign(new Error('no leader'), { type: 'LEADER_NOT_AVAILABLE' });
          const first = await produce(await connection.broker(leader), producer, group, stepTimeoutMs);
          group.forEach(({ index }, at) => (offsets[index] = first[at] ?? -1n));
          return [];
        } catch (error) {
          if (!mayAppendAgain(error)) throw error;
          lastError = error;
          return group;
        }
      });
      const failed = (await Promise.all(rounds)).flat();
      unwritten = [...failed, ...later];
      if (unwritten.length === 0) return offsets;
      if (failed.length === 0) continue;
      if (Date.now() > giveUpAt)
        throw new EventLogUnavailable('records of a transaction could not be written', lastError);
      await pause(50);
      await connection.refresh().catch(() => undefined);
    }
  }

  async function commitOffsets(offsets: TransactionContents['offsets']): Promise<void> {
    const producer = current();
    await ask(groupCoordinator, (broker) =>
      broker.txnOffsetCommit({
        transactionalId,
        groupId,
        producerId: producer.producerId,
        producerEpoch: producer.producerEpoch,
        topics: offsets.map(({ topic, partition, offset, metadata = null }) => ({
          topic,
          partitions: [{ partition, offset: offset.toString(), metadata }],
        })),
      }),
    );
  }

  function begin(participants: Participants): Promise<void> {
    // One after the other: the coordinator refuses what comes while it writes down what came before.
    begun = begun.then(() => join(participants));
    // Whoever commits sees the rejection; until then it must not count as unhandled.
    begun.catch(() => undefined);
    return begun;
  }

  async function join({ partitions, offsets }: Participants): Promise<void> {
    const { producerId, producerEpoch } = current();
    if (offsets && !joined.has(groupId)) {
      await ask(transactionCoordinator, (broker) =>
        broker.addOffsetsToTxn({ transactionalId, producerId, producerEpoch, groupId }),
      );
      joined.add(groupId);
    }
    const missing = partitions.filter((one) => !joined.has(partitionName(one)));
    if (missing.length === 0) return;
    await ask(transactionCoordinator, (broker) =>
      broker.addPartitionsToTxn({
        transactionalId,
        producerId,
        producerEpoch,
        topics: partitionsByTopic(missing),
      }),
    );
    for (const one of missing) joined.add(partitionName(one));
  }

  async function end(transactionResult: boolean): Promise<void> {
    const { producerId, producerEpoch } = current();
    await ask(transactionCoordinator, (broker) =>
      broker.endTxn({ transactionalId, producerId, producerEpoch, transactionResult }),
    );
    joined.clear();
  }

  return {
    async fence() {
      // Asking again is harmless here: each answer only makes earlier epochs invalid.
      const { producerId, producerEpoch } = await ask(
        transactionCoordinator,
        (broker) => broker.initProducerId({ transactionalId, transactionTimeout: timeoutMs }),
        { again: isConnectionError },
      );
      identity = { producerId, producerEpoch, transactionalId, sequences: new Map() };
      begun = Promise.resolve();
      joined.clear();
    },
    async mark(place) {
      const own = current();
      await begin({ partitions: [place], offsets: true });
      // Any would do: it is aborted. Its coordinator answers when all that it wrote before is replicated too.
      await commitOffsets([{ ...place, offset: 0n }]);
      await end(false);
      return ({ producerId, producerEpoch }) =>
        producerId === BigInt(own.producerId) && producerEpoch >= own.producerEpoch;
    },
    begin,
    async commit({ batches, offsets }) {
      await begin({ partitions: batches, offsets: offsets.length > 0 });
      const [written] = await Promise.all([
        append(batches),
        offsets.length > 0 ? commitOffsets(offsets) : undefined,
      ]);
      await end(true);
      return written;
    },
  };
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
 * Groups messages into batches of one partition each, in order, none above `maxBytes` unless one message is: a broker
 * refuses a record batch above the topic's max.message.bytes, and one request has one batch of each partition.
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
