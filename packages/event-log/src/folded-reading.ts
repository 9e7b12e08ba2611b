// Reads a partition of a topic to fold it into a state, beside the live work on it.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { internals, type EventLog } from './event-log.js';
import { decodeToFold } from './folded-records.js';
import { isMeaningless, isPositionStatement } from './input-positions.js';
import { readUntil } from './kafka/partition-reader.js';
import type { FoldedRecord } from './records.js';

export interface FoldedReading {
  records: FoldedRecord[];
  /** The next offset to read. */
  nextOffset: bigint;
}

export interface FoldedReadingOptions {
  /** Whether the service itself writes the topic: then an operator's word on its positions is among the records. */
  isOwn: boolean;
  /** Whether reading ends at this offset. */
  isEnd: (nextOffset: bigint) => boolean;
  maxBytes: number;
  signal: AbortSignal;
  logger: Logger;
}

/**
 * Reads the committed records from an offset until `isEnd`, one fetch at a time.
 * @throws UnreadableRecord; the signal's reason once it is aborted
 */
export async function* readToFold(
  log: EventLog,
  { topic, partition, from }: { topic: TopicName; partition: number; from: bigint },
  { isOwn, isEnd, maxBytes, signal, logger }: FoldedReadingOptions,
): AsyncGenerator<FoldedReading, void> {
  const { connect, wire } = log[internals];
  const isSkipped = isOwn ? isMeaningless : isPositionStatement;
  const connection = connect();
  try {
    await connection.open([wire(topic)]);
    const fetches = readUntil(
      connection,
      { topic: wire(topic), partition, from },
      ({ nextOffset }) => isEnd(nextOffset),
      { maxBytes, signal },
    );
    for await (const { records, nextOffset } of fetches) {
      const wanted = records.filter((record) => !isSkipped(record));
      yield { records: await decodeToFold(log, { topic, partition }, wanted, logger), nextOffset };
    }
  } finally {
    connection.close();
  }
}
