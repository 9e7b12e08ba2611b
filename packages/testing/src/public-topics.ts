// Reads a whole topic as a consumer outside of the system would: with kafkajs, committed records only, and plain JSON
// after the five bytes of the registry's prefix. It shares no code with the event log, which it checks.
import { randomBytes } from 'node:crypto';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { Kafka, logLevel } from 'kafkajs';

export interface TopicRecord<Payload = unknown> {
  type: string;
  partition: number;
  offset: bigint;
  key: string | null;
  headers: Record<string, string>;
  payload: Payload;
}

/**
 * All records of a topic up to its current end, in order within each partition.
 * @param timeoutMs the longest time without a record
 */
export async function readTopic<Payload = unknown>(
  endpoints: PlatformEndpoints,
  topic: string,
  timeoutMs = 60_000,
): Promise<TopicRecord<Payload>[]> {
  const kafka = new Kafka({
    brokers: endpoints.kafkaBrokers,
    logLevel: logLevel.NOTHING,
    clientId: 'reader',
  });
  const admin = kafka.admin();
  await admin.connect();
  const ends = (await admin.fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
    partition,
    low: BigInt(low),
    high: BigInt(high),
  }));
  const unread = new Set(ends.filter(({ low, high }) => high > low).map(({ partition }) => partition));
  const records: TopicRecord<Payload>[] = [];
  /** By partition. A consumer that left its group reads from the beginning again, because it commits no offsets. */
  const nextOffsets = new Map<number, bigint>();
  if (unread.size > 0) {
    const groupId = `${topic}.reader-${randomBytes(4).toString('hex')}`;
    const consumer = kafka.consumer({
      groupId,
      readUncommitted: false,
      maxWaitTimeInMs: 100,
      retry: { retries: 8 },
    });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const allRead = new Promise<void>((resolve, reject) => {
      const deadline = setTimeout(() => {
        reject(
          new Error(
            `${topic}: partitions ${[...unread].join(', ')} are not read to their end, and no record has come for ${timeoutMs} ms`,
          ),
        );
      }, timeoutMs);
      const settle = (error?: Error) => {
        clearTimeout(deadline);
        if (error) reject(error);
        else resolve();
      };
      // Also fires for batches that hold only commit markers, which no handler sees.
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
        deadline.refresh();
        const end = ends.find((known) => known.partition === partition)?.high ?? 0n;
        if (BigInt(lastOffset) + 1n >= end) unread.delete(partition);
        if (unread.size === 0) settle();
      });
      consumer.on(consumer.events.CRASH, ({ payload: { error } }) => {
        settle(error);
      });
      consumer
        .run({
          autoCommit: false,
          eachBatch: ({ batch: { partition, messages } }) => {
            const end = ends.find((known) => known.partition === partition)?.high ?? 0n;
            for (const { offset, key, value, headers } of messages) {
              if (BigInt(offset) >= end || BigInt(offset) < (nextOffsets.get(partition) ?? 0n)) continue;
              nextOffsets.set(partition, BigInt(offset) + 1n);
              const plain = Object.fromEntries(
                Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)]),
              );
              if (value?.[0] !== 0)
                throw new Error(`${topic}:${partition}:${offset} is not in the registry's wire format`);
              records.push({
                type: plain['type'] ?? '',
                partition,
                offset: BigInt(offset),
                key: key?.toString() ?? null,
                headers: plain,
                payload: JSON.parse(value.subarray(5).toString()) as Payload,
              });
            }
            return Promise.resolve();
          },
        })
        .catch((error: unknown) => {
          settle(error instanceof Error ? error : new Error(String(error)));
        });
    });
    try {
      await allRead;
    } finally {
      await consumer.disconnect();
    }
    await admin.deleteGroups([groupId]).catch(() => undefined);
  }
  await admin.disconnect();
  return records;
}
