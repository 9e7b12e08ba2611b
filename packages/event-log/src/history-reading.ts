// Reads a part of a topic's history beside the live work on it, and decodes only the records that the reader wants.
import type { TopicName } from '@lead-scoring/contracts';
import { headerText } from './codec.js';
import { internals, type EventLog } from './event-log.js';
import { readUntil } from './kafka/partition-reader.js';
import type { RawRecord } from './kafka/record-batch.js';
import type { IncomingRecord } from './records.js';

/** A record before it is decoded. */
export interface StoredRecord {
  readonly type: string;
  readonly key: string;
  /** The payload as UTF-8 JSON, behind the few bytes that name its schema. */
  readonly value: Buffer;
}

export interface HistoryReadingOptions {
  /** Whether a record is to be decoded: most of a long history is passed over for a fraction of the time. */
  readonly wants: (record: StoredRecord) => boolean;
  /** Maximum bytes of one fetch. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * The wanted records of one partition, in their order, a fetch at a time. A record that cannot be decoded is passed over: the live
 * work has set it aside as well.
 * @param range from one offset up to another, the second exclusive
 * @throws EventLogUnavailable; the signal's reason once it is aborted
 */
export async function* readHistory(
  log: EventLog,
  { topic, partition, from, to }: { topic: TopicName; partition: number; from: bigint; to: bigint },
  { wants, maxBytes, signal }: HistoryReadingOptions,
): AsyncGenerator<IncomingRecord[], void> {
  if (from >= to) return;
  const { connect, wire, codec } = log[internals];
  const connection = connect();
  try {
    await connection.open([wire(topic)]);
    const fetches = readUntil(
      connection,
      { topic: wire(topic), partition, from },
      ({ nextOffset }) => nextOffset >= to,
      { maxBytes, signal },
    );
    for await (const { records } of fetches) {
      signal.throwIfAborted();
      const wanted = records.filter((record) => record.offset < to && isWanted(record, wants));
      await codec.loadSchemas(wanted);
      yield wanted.flatMap((record): IncomingRecord[] => {
        const decoded = codec.decode(topic, partition, record);
        return 'problem' in decoded ? [] : [decoded];
      });
    }
  } finally {
    connection.close();
  }
}

function isWanted({ key, value, headers }: RawRecord, wants: HistoryReadingOptions['wants']): boolean {
  const type = headerText(headers, 'type');
  return type !== undefined && key !== null && value !== null && wants({ type, key: key.toString(), value });
}
