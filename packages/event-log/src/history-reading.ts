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

/** Records that are decoded and handed over at once: a few milliseconds of work. */
const recordsPerSlice = 250;

/**
 * The wanted records of one partition, in their order, at most 250 at a time, while the next fetch is under way. A record that cannot
 * be decoded is left out: the live work has made it a dead letter.
 * @param range from one offset up to another, the second exclusive
 * @throws EventLogUnavailable; EventLogError `not_prepared`, because no record could be decoded; the signal's reason once it is aborted
 */
export async function* readHistory(
  log: EventLog,
  { topic, partition, from, to }: { topic: TopicName; partition: number; from: bigint; to: bigint },
  { wants, maxBytes, signal }: HistoryReadingOptions,
): AsyncGenerator<IncomingRecord[], void> {
  if (from >= to) return;
  const { connect, wire, codec, schemas, giveWay } = log[internals];
  schemas.assertRegistered();
  const connection = connect();
  try {
    await connection.open([wire(topic)]);
    const fetches = readUntil(
      connection,
      { topic: wire(topic), partition, from },
      ({ nextOffset }) => nextOffset >= to,
      { maxBytes, signal },
    );
    for await (const { records } of oneAhead(fetches)) {
      signal.throwIfAborted();
      const wanted = records.filter((record) => record.offset < to && isWanted(record, wants));
      await codec.loadSchemas(wanted);
      for (let first = 0; first < wanted.length; first += recordsPerSlice) {
        yield wanted.slice(first, first + recordsPerSlice).flatMap((record): IncomingRecord[] => {
          const decoded = codec.decode(topic, partition, record);
          return 'problem' in decoded ? [] : [decoded];
        });
        await giveWay();
      }
    }
  } finally {
    connection.close();
  }
}

function isWanted({ key, value, headers }: RawRecord, wants: HistoryReadingOptions['wants']): boolean {
  const type = headerText(headers, 'type');
  return type !== undefined && key !== null && value !== null && wants({ type, key: key.toString(), value });
}

/** The same values, each next one requested while the one before is being used. */
async function* oneAhead<Value>(values: AsyncGenerator<Value, void>): AsyncGenerator<Value, void> {
  let next = values.next();
  try {
    for (let current = await next; current.done !== true; current = await next) {
      next = values.next();
      // Thrown where it is awaited, if it ever is.
      next.catch(() => undefined);
      yield current.value;
    }
  } finally {
    await values.return();
  }
}
