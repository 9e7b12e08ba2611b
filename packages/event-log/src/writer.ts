// Writes records from outside of a processor, many callers' records in one request.
import type { TopicName } from '@lead-scoring/contracts';
import type { Component } from './component.js';
import type { EventLog } from './event-log.js';
import type { OutgoingRecord } from './records.js';

/** Where a record was written. */
export interface RecordPosition {
  topic: TopicName;
  partition: number;
  offset: bigint;
}

export interface RecordWriter {
  /**
   * Writes records and resolves with their positions, in the order given, once all in-sync replicas have every one.
   * @throws EventLogError `log_overloaded` at once when too much is waiting; EventLogUnavailable within about 5 s when
   * the brokers do not answer (the records may have been written: send them again with the same ids);
   * `invalid_record` and `record_too_large` for a record that can never be written.
   */
  write(records: readonly OutgoingRecord[]): Promise<RecordPosition[]>;
}

export interface RecordWriterOptions {
  /** Bytes that may wait for the request in flight; beyond, write() rejects. Default 32 MiB. */
  maxBufferedBytes?: number;
  /** Milliseconds until a write is given up. Default 5,000. */
  timeoutMs?: number;
}

export function createRecordWriter(log: EventLog, options: RecordWriterOptions = {}): Component<RecordWriter> {
  throw new Error(`not yet: ${String(log)} ${String(options)}`);
}
