// Reads one partition straight from its leader, committed records only, and knows exactly up to where it has read.
import type { FetchedPartition } from './broker.js';
import { EventLogUnavailable, PositionBeyondEnd } from '../errors.js';
import { errorOfCode } from './error-codes.js';
import type { KafkaConnection } from './kafka-connection.js';
import { askLeader, mayPass } from './kafka-connection.js';
import { protocolErrorType } from './kafka-errors.js';
import type { FetchedBatch, RawRecord } from './record-batch.js';
import { pause } from '../timing.js';

export type { RawRecord };

export interface Fetched {
  records: RawRecord[];
  /** Where to read on: behind the last record, commit markers and aborted records included. */
  nextOffset: bigint;
  /**
   * The next offset that will be written, as far as the leader knows: one that was just elected may not know yet that what it
   * has last is on enough replicas, though its predecessor has acknowledged it.
   */
  highWatermark: bigint;
  /** Up to where transactions had ended, as of this fetch: nothing behind it could be read. */
  stableEnd: bigint;
}

export interface PartitionReader {
  readonly topic: string;
  readonly partition: number;
  /** Returns as soon as there is a record, or empty after `maxWaitMs`. */
  fetch(offset: bigint, options: { maxBytes: number; maxWaitMs: number }): Promise<Fetched>;
}

/**
 * Milliseconds until a leader is believed that does not have what was written: it may be one that was replaced and does not
 * know it yet. To believe it is to stop the partition.
 */
const doubtMs = 5_000;

/**
 * A reader of one partition. While the leader moves or is away it looks for the new one for `patienceMs`, then throws.
 * Where records are gone by their age, what is left is read from its first on, and `onOffsetLost` is told.
 * @throws PositionBeyondEnd for an offset behind all that there is
 */
export function createPartitionReader(
  connection: KafkaConnection,
  topic: string,
  partition: number,
  options: {
    patienceMs?: number;
    onOffsetLost?: (wanted: bigint, earliest: bigint) => void;
    signal?: AbortSignal;
    /** Also what open transactions have written, and what was aborted. */
    isUncommitted?: boolean;
  } = {},
): PartitionReader {
  return {
    topic,
    partition,
    fetch(offset, { maxBytes, maxWaitMs }) {
      const believedAt = Date.now() + doubtMs;
      return askLeader(
        connection,
        async () => {
          try {
            const broker = await connection.leader(topic, partition);
            const { responses } = await broker.fetch({
              isolationLevel: options.isUncommitted ? 0 : 1,
              maxWaitTime: maxWaitMs,
              minBytes: 1,
              maxBytes,
              topics: [{ topic, partitions: [{ partition, fetchOffset: offset.toString(), maxBytes }] }],
            });
            const answer = responses[0]?.partitions[0];
            if (!answer) throw new Error(`the fetch of ${topic} ${partition} was answered without it`);
            const failure = answer.unreadable ?? errorOfCode(answer.errorCode);
            if (failure) throw failure;
            return committedRecords(answer, offset);
          } catch (error) {
            if (protocolErrorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
            const earliest = await connection.offset(topic, partition, 'earliest');
            if (offset >= earliest) {
              if (Date.now() >= believedAt) {
                const end = await connection.offset(topic, partition, 'latest');
                throw new PositionBeyondEnd({ topic, partition, position: offset, end }, error);
              }
              throw new EventLogUnavailable(`${topic} ${partition} has nothing at ${offset} yet`, error);
            }
            options.onOffsetLost?.(offset, earliest);
            return {
              records: [],
              nextOffset: earliest,
              highWatermark: earliest,
              stableEnd: earliest,
            };
          }
        },
        { ...options, isPassing: (error) => !(error instanceof PositionBeyondEnd) && mayPass(error) },
      );
    },
  };
}

/** Asked before anything is read on, so that a partition is stopped before it does anything else. */
export async function assertNotBeyondEnd(
  connection: KafkaConnection,
  { topic, partition, position }: { topic: string; partition: number; position: bigint },
  cause?: unknown,
): Promise<void> {
  const believedAt = Date.now() + doubtMs;
  for (;;) {
    const end = await connection.offset(topic, partition, 'latest');
    if (position <= end) return;
    if (Date.now() >= believedAt) throw new PositionBeyondEnd({ topic, partition, position, end }, cause);
    await pause(200);
    await connection.refresh().catch(() => undefined);
  }
}

/**
 * What a partition has from an offset on, until `isEnd` says that it is there, which is waited for. Where the offset is lost,
 * from the first record that is there.
 */
export async function* readUntil(
  connection: KafkaConnection,
  { topic, partition, from }: { topic: string; partition: number; from: bigint },
  isEnd: (fetched: Fetched) => boolean,
  options: {
    maxBytes: number;
    onOffsetLost?: (wanted: bigint, earliest: bigint) => void;
    signal?: AbortSignal;
    isUncommitted?: boolean;
    /** How long the leader waits for a record that is not there yet. Default 500. */
    maxWaitMs?: number;
  },
): AsyncGenerator<Fetched, void> {
  const { maxBytes, signal, maxWaitMs: longestWaitMs = 500 } = options;
  const reader = createPartitionReader(connection, topic, partition, options);
  let offset = from;
  for (let maxWaitMs = 0; ; maxWaitMs = longestWaitMs) {
    const fetched = await reader.fetch(offset, { maxBytes, maxWaitMs });
    yield fetched;
    if (isEnd(fetched)) return;
    offset = fetched.nextOffset;
    signal?.throwIfAborted();
  }
}

/**
 * For readUntil: whether everything is read that there was when this was called, transactions included that were open by the
 * first answer. What a leader has of ended ones it answers only once it knows of all.
 */
export async function untilNow(
  connection: KafkaConnection,
  topic: string,
  partition: number,
): Promise<(fetched: Fetched) => boolean> {
  const ended = await connection.offset(topic, partition, 'latest');
  let end: bigint | undefined;
  return ({ nextOffset, highWatermark }) =>
    nextOffset >= (end ??= highWatermark > ended ? highWatermark : ended);
}

/** What a read_committed consumer may see of a fetched partition: neither control records nor aborted transactions. */
export function committedRecords(
  fetched: Pick<FetchedPartition, 'batches' | 'abortedTransactions' | 'highWatermark' | 'lastStableOffset'>,
  from: bigint,
): Fetched {
  const aborted = [...fetched.abortedTransactions].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  const open = new Set<bigint>();
  const records: RawRecord[] = [];
  let nextOffset = from;
  let nextAborted = 0;
  for (const batch of fetched.batches) {
    const { producerId, lastOffset } = batch;
    for (
      let next = aborted[nextAborted];
      next && next.firstOffset <= lastOffset;
      next = aborted[++nextAborted]
    ) {
      open.add(next.producerId);
    }
    if (batch.isControl) {
      if (isAbortMarker(batch)) open.delete(producerId);
    } else if (!(batch.inTransaction && open.has(producerId))) {
      for (const record of batch.records) if (record.offset >= from) records.push(record);
    }
    if (lastOffset >= nextOffset) nextOffset = lastOffset + 1n;
  }
  const { highWatermark, lastStableOffset } = fetched;
  return { records, nextOffset, highWatermark, stableEnd: lastStableOffset };
}

/** A control record's key is its version and its type, two bytes each: type 0 is abort, 1 commit. */
function isAbortMarker({ records: [marker] }: FetchedBatch): boolean {
  const key = marker?.key ?? null;
  return key !== null && key.length >= 4 && key.readInt16BE(2) === 0;
}
