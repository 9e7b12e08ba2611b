// The dead letter of a record of a source topic: its bytes, where it is, and why it could not be taken.
import type { ServiceName, TopicName } from '@lead-scoring/contracts';
import { maxRecordBytes } from '../codec.js';
import { deadLetterHeaders, longestReason } from '../dead-letter-record.js';
import { internals, type EventLog } from '../event-log.js';
import { recordBytes, type RawRecord } from '../kafka/record-batch.js';
import type { EncodedRecord } from '../outgoing.js';

export interface SourceLetter {
  /** The service whose dead letters it is among. */
  service: ServiceName;
  /** The name of the source. */
  source: string;
  /** The topic of the source, as its cluster names it. */
  topic: string;
  partition: number;
  record: RawRecord;
  reason: string;
}

/** Its headers are only those of this system: those of a foreign record may have any name. */
export function sourceLetterMessage(
  log: EventLog,
  { service, source, topic, partition, record, reason }: SourceLetter,
  now: number,
): EncodedRecord & { name: TopicName } {
  const name: TopicName = `${service}.dead-letters`;
  const isKept = recordBytes(record) <= maxRecordBytes;
  const whole = isKept ? reason : `${reason} (its content is too large to be kept here)`;
  const message = {
    key: isKept ? record.key : null,
    value: isKept ? record.value : null,
    headers: {
      [deadLetterHeaders.reason]: whole.slice(0, longestReason).toWellFormed(),
      [deadLetterHeaders.source]: source,
      [deadLetterHeaders.topic]: topic,
      [deadLetterHeaders.partition]: String(partition),
      [deadLetterHeaders.offset]: record.offset.toString(),
      [deadLetterHeaders.attempts]: '1',
      [deadLetterHeaders.time]: new Date(now).toISOString(),
    },
    timestamp: now,
  };
  return {
    topic: log[internals].wire(name),
    name,
    partition: partition % log.config.partitions,
    message,
    bytes: recordBytes(message),
  };
}
