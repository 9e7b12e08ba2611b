// Encodes outgoing records as messages, with the headers of the current trace.
import { context, propagation } from '@opentelemetry/api';
import { EventLogError } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { recordBytes, type RecordToWrite } from './kafka/record-batch.js';
import type { OutgoingRecord } from './records.js';

/** A record ready to be sent. */
export interface EncodedRecord {
  /** Topic as named on the wire. */
  topic: string;
  partition: number;
  message: RecordToWrite;
  /** The approximate size on the wire. */
  bytes: number;
}

/** A record of a declared type, ready to be sent. */
export interface EncodedDeclared extends EncodedRecord {
  message: RecordToWrite & {
    value: Buffer;
    headers: Readonly<Record<string, string>>;
    timestamp: number;
  };
}

/** The W3C trace headers of the active span; none when tracing is off. */
export function traceHeaders(): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/**
 * Encodes a record.
 * @param timestamp milliseconds since 1970; the record's time on every read
 * @throws EventLogError `invalid_record` or `record_too_large`
 */
export function encodeRecord(
  log: EventLog,
  record: OutgoingRecord,
  timestamp: number,
  trace: Readonly<Record<string, string>>,
): EncodedDeclared {
  const { declaration, key, payload, isChecked, headers } = record;
  const partition = record.partition ?? log.partitionOf(key);
  if (!Number.isInteger(partition) || partition < 0 || partition >= log.config.partitions) {
    throw new EventLogError(
      'invalid_record',
      `a ${declaration.type} is for partition ${partition} of ${log.config.partitions}`,
    );
  }
  const message: EncodedDeclared['message'] = {
    key,
    value: log[internals].codec.encode(declaration, payload, { isChecked }),
    headers: { type: declaration.type, ...headers, ...trace },
    timestamp,
  };
  return { topic: log[internals].wire(declaration.topic), partition, message, bytes: recordBytes(message) };
}
