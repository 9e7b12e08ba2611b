// Appends batches to partitions, each exactly once: sequence numbers make a repeated batch a no-op on the broker.
import { EventLogUnavailable } from '../errors.js';
import { pause } from '../timing.js';
import type { Broker } from './broker.js';
import type { KafkaConnection } from './kafka-connection.js';
import { isConnectionError, protocolError, protocolErrorType } from './kafka-errors.js';
import type { RecordToWrite } from './record-batch.js';

/** A producer's identity at the brokers, with the number of records written to each partition. */
export interface ProducerIdentity {
  producerId: number | string;
  producerEpoch: number;
  transactionalId?: string;
  /** The next sequence number, by partitionName. */
  sequences: Map<string, number>;
}

/** Records of one partition that are written together: one request, one record batch, one range of sequence numbers. */
export interface AppendBatch {
  /** The topic's wire name. */
  topic: string;
  partition: number;
  messages: RecordToWrite[];
}

/** The key of a topic's partition in maps and sets. */
export function partitionName({ topic, partition }: { topic: string; partition: number }): string {
  return `${topic}/${partition}`;
}

const sequenceLimit = 2 ** 31;

/** Takes the next sequence numbers of a partition for a batch; call it once per batch, in the order of sending. */
export function takeSequence(identity: ProducerIdentity, batch: AppendBatch): number {
  const key = partitionName(batch);
  const first = identity.sequences.get(key) ?? 0;
  identity.sequences.set(key, (first + batch.messages.length) % sequenceLimit);
  return first;
}

/** Whether a batch may be sent again after this error: it was not written, or a repetition has no effect. */
export function mayAppendAgain(error: unknown): boolean {
  const type = protocolErrorType(error);
  return (type !== undefined && transientErrors.has(type)) || isConnectionError(error);
}

const transientErrors = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'REQUEST_TIMED_OUT',
  'NETWORK_EXCEPTION',
  'NOT_ENOUGH_REPLICAS',
  'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  'KAFKA_STORAGE_ERROR',
  'CORRUPT_MESSAGE',
]);

/**
 * Sends batches to one broker and returns the first offset of each. After a rejection any of them may have been
 * written: send all again with the same sequence numbers, to the current leaders of their partitions.
 */
export async function produce(
  broker: Broker,
  identity: ProducerIdentity,
  batches: readonly (AppendBatch & { firstSequence: number })[],
  timeoutMs: number,
): Promise<bigint[]> {
  const byTopic = new Map<
    string,
    { partition: number; firstSequence: number; messages: RecordToWrite[] }[]
  >();
  for (const { topic, partition, firstSequence, messages } of batches) {
    const partitions = byTopic.get(topic);
    if (partitions) partitions.push({ partition, firstSequence, messages });
    else byTopic.set(topic, [{ partition, firstSequence, messages }]);
  }
  const answer = await broker.produce({
    ...(identity.transactionalId === undefined ? {} : { transactionalId: identity.transactionalId }),
    producerId: identity.producerId,
    producerEpoch: identity.producerEpoch,
    acks: -1,
    timeout: timeoutMs,
    topicData: [...byTopic].map(([topic, partitions]) => ({ topic, partitions })),
  });
  const offsets = new Map<string, bigint>();
  for (const { topicName, partitions } of answer.topics) {
    for (const { partition, errorCode, baseOffset } of partitions) {
      if (errorCode === 0) offsets.set(partitionName({ topic: topicName, partition }), BigInt(baseOffset));
    }
  }
  return batches.map(({ topic, partition }) => {
    const offset = offsets.get(partitionName({ topic, partition }));
    // A partition that the answer does not name was not written.
    if (offset === undefined || offset < 0n) {
      throw protocolError('NETWORK_EXCEPTION', `the broker's answer does not name ${topic} ${partition}`);
    }
    return offset;
  });
}

type UnwrittenBatch = AppendBatch & { firstSequence: number; index: number };

/**
 * Appends batches, each to the leader of its partition, and repeats after transient errors with the next leader.
 * @returns the first offset of each batch
 * @throws EventLogUnavailable after `timeoutMs`
 */
export async function appendAll(
  connection: KafkaConnection,
  identity: ProducerIdentity,
  batches: readonly AppendBatch[],
  timeoutMs: number,
): Promise<bigint[]> {
  const giveUpAt = Date.now() + timeoutMs;
  const offsets: bigint[] = [];
  let unwritten = batches.map((batch, index): UnwrittenBatch => ({
    ...batch,
    index,
    firstSequence: takeSequence(identity, batch),
  }));
  while (unwritten.length > 0) {
    // A request holds one batch of a partition: further batches of the same partition wait for the next request.
    const next = [
      ...new Map([...unwritten].reverse().map((batch) => [partitionName(batch), batch])).values(),
    ];
    const later = unwritten.filter((batch) => !next.includes(batch));
    const { failed, lastError } = await appendOnce(connection, identity, next, timeoutMs, offsets);
    unwritten = [...failed, ...later];
    if (failed.length === 0) continue;
    if (Date.now() > giveUpAt)
      throw new EventLogUnavailable(
        `the records of a transaction could not be written within ${timeoutMs} ms`,
        lastError,
      );
    await pause(50);
    await connection.refresh().catch(() => undefined);
  }
  return offsets;
}

/** Sends one request to each leader, stores the offsets of written batches, and returns the batches to send again. */
async function appendOnce(
  connection: KafkaConnection,
  identity: ProducerIdentity,
  batches: readonly UnwrittenBatch[],
  timeoutMs: number,
  offsets: bigint[],
): Promise<{ failed: UnwrittenBatch[]; lastError: unknown }> {
  let lastError: unknown;
  const requests = [...byLeader(connection, batches)].map(async ([leader, group]) => {
    try {
      if (leader === undefined) throw protocolError('LEADER_NOT_AVAILABLE', 'no leader');
      const first = await produce(await connection.broker(leader), identity, group, timeoutMs);
      group.forEach(({ index }, at) => (offsets[index] = first[at] ?? -1n));
      return [];
    } catch (error) {
      if (!mayAppendAgain(error)) throw error;
      lastError = error;
      return group;
    }
  });
  const failed = (await Promise.all(requests)).flat();
  return { failed, lastError };
}

/** Groups items by the current leader of their partition; `undefined` for partitions without a leader. */
export function byLeader<Item extends { topic: string; partition: number }>(
  connection: KafkaConnection,
  items: readonly Item[],
): Map<number | undefined, Item[]> {
  const groups = new Map<number | undefined, Item[]>();
  for (const item of items) {
    const leader = connection.leaderId(item.topic, item.partition);
    const group = groups.get(leader);
    if (group) group.push(item);
    else groups.set(leader, [item]);
  }
  return groups;
}
