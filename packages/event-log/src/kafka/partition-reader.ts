// Reads the committed records of one partition from its leader, and reports the exact offset up to which it has read.
import type { FetchedPartition } from './broker.js';
import { EventLogUnavailable, PositionBeyondEnd } from '../errors.js';
import { errorOfCode } from './error-codes.js';
import type { KafkaConnection } from './kafka-connection.js';
import { askLeader, isTransient } from './kafka-connection.js';
import { protocolErrorType } from './kafka-errors.js';
import type { FetchedBatch, RawRecord } from './record-batch.js';
import { pause } from '../timing.js';

export type { RawRecord };

export interface FetchResult {
  records: RawRecord[];
  /** The next offset to read: after the last record, commit markers and aborted records included. */
  nextOffset: bigint;
  /**
   * The high watermark as the leader knows it. A leader that was just elected may report one below records that its
   * predecessor has acknowledged.
   */
  highWatermark: bigint;
  /**
   * The last stable offset as of this fetch: only transactions before it have ended, and later records could not be
   * read.
   */
  stableEnd: bigint;
}

export interface PartitionReader {
  readonly topic: string;
  readonly partition: number;
  /** Returns as soon as there is a record, or without records after `maxWaitMs`. */
  fetch(offset: bigint, options: { maxBytes: number; maxWaitMs: number }): Promise<FetchResult>;
}

/**
 * Milliseconds for which a leader that lacks written records is considered stale: it may have been replaced without
 * knowing it. Accepting its answer halts the partition.
 */
const staleLeaderMs = 5_000;

/**
 * Creates a reader of one partition. While the leader moves or is away, the reader searches for the new one for
 * `patienceMs`, then throws. When retention has deleted the wanted records, it continues at the first stored record and
 * calls `onOffsetLost`.
 * @throws PositionBeyondEnd for an offset beyond the end
 */
export function createPartitionReader(
  connection: KafkaConnection,
  topic: string,
  partition: number,
  options: {
    patienceMs?: number;
    onOffsetLost?: (wanted: bigint, earliest: bigint) => void;
    signal?: AbortSignal;
    /** Also reads records of open and aborted transactions. */
    isUncommitted?: boolean;
  } = {},
): PartitionReader {
  return {
    topic,
    partition,
    fetch(offset, { maxBytes, maxWaitMs }) {
      const acceptedAt = Date.now() + staleLeaderMs;
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
            if (!answer)
              throw new Error(`the answer to a fetch of ${topic} ${partition} does not name the partition`);
            const failure = answer.unreadable ?? errorOfCode(answer.errorCode);
            if (failure) throw failure;
            return committedRecords(answer, offset);
          } catch (error) {
            if (protocolErrorType(error) !== 'OFFSET_OUT_OF_RANGE') throw error;
            const earliest = await connection.offset(topic, partition, 'earliest');
            if (offset >= earliest) {
              if (Date.now() >= acceptedAt) {
                const end = await connection.offset(topic, partition, 'latest');
                throw new PositionBeyondEnd({ topic, partition, position: offset, end }, error);
              }
              throw new EventLogUnavailable(
                `the leader of ${topic} ${partition} does not have offset ${offset} yet`,
                error,
              );
            }
            options.onOffsetLost?.(offset, earliest);
            return { records: [], nextOffset: earliest, highWatermark: earliest, stableEnd: earliest };
          }
        },
        { ...options, isRetriableError: isRetriableRead },
      );
    },
  };
}

function isRetriableRead(error: unknown): boolean {
  return !(error instanceof PositionBeyondEnd) && isTransient(error);
}

/**
 * Checks a position against the end of its topic before reading, so that the partition is halted before it does
 * anything else.
 */
export async function assertNotBeyondEnd(
  connection: KafkaConnection,
  { topic, partition, position }: { topic: string; partition: number; position: bigint },
  cause?: unknown,
): Promise<void> {
  const acceptedAt = Date.now() + staleLeaderMs;
  for (;;) {
    const end = await connection.offset(topic, partition, 'latest');
    if (position <= end) return;
    if (Date.now() >= acceptedAt) throw new PositionBeyondEnd({ topic, partition, position, end }, cause);
    await pause(200);
    await connection.refresh().catch(() => undefined);
  }
}

/**
 * Reads a partition from an offset until `isEnd` returns true, and waits for further records. Starts at the first
 * stored record when the offset was deleted.
 */
export async function* readUntil(
  connection: KafkaConnection,
  { topic, partition, from }: { topic: string; partition: number; from: bigint },
  isEnd: (fetched: FetchResult) => boolean,
  options: {
    maxBytes: number;
    onOffsetLost?: (wanted: bigint, earliest: bigint) => void;
    signal?: AbortSignal;
    isUncommitted?: boolean;
    /** Milliseconds that the leader waits for a new record. Default 500. */
    maxWaitMs?: number;
  },
): AsyncGenerator<FetchResult, void> {
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
 * For readUntil: a predicate that becomes true once all records are read that existed at this call, including those of
 * transactions that were open at the first answer. A leader answers with ended transactions only after it knows of all
 * of them.
 */
export async function untilCurrentEnd(
  connection: KafkaConnection,
  topic: string,
  partition: number,
): Promise<(fetched: FetchResult) => boolean> {
  const ended = await connection.offset(topic, partition, 'latest');
  let end: bigint | undefined;
  return ({ nextOffset, highWatermark }) =>
    nextOffset >= (end ??= highWatermark > ended ? highWatermark : ended);
}

/**
 * The records of a fetched partition that a read_committed consumer gets: without control records and aborted
 * transactions.
 */
export function committedRecords(
  fetched: Pick<FetchedPartition, 'batches' | 'abortedTransactions' | 'highWatermark' | 'lastStableOffset'>,
  from: bigint,
): FetchResult {
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

/** A control record's key is its version and its type, two bytes each: type 0 is abort, 1 is commit. */
function isAbortMarker({ records: [marker] }: FetchedBatch): boolean {
  const key = marker?.key ?? null;
  return key !== null && key.length >= 4 && key.readInt16BE(2) === 0;
}
