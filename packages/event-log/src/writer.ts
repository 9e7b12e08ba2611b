// Writes records from outside a processor; one request carries the records of many callers.
import type { TopicName } from '@lead-scoring/contracts';
import type { Component } from './component.js';
import { EventLogError, EventLogUnavailable } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { partitionName } from './kafka/idempotent-appender.js';
import { encodeRecord, traceHeaders, type EncodedRecord } from './outgoing.js';
import { sourceLetterMessage, type SourceLetter } from './topic-source/source-letter.js';
import type { OutgoingRecord } from './records.js';
import { pause } from './timing.js';
import { ByteBudget } from './writing/byte-budget.js';
import { PartitionQueue } from './writing/partition-queue.js';
import { QueueSender } from './writing/queue-sender.js';
import { PendingWrite, type RecordPosition } from './writing/pending-write.js';
import { ProducerConnection } from './writing/producer-connection.js';

export type { RecordPosition } from './writing/pending-write.js';

export interface RecordWriter {
  /**
   * Writes records and resolves with their positions, in the order given, once all in-sync replicas have every record.
   * @throws EventLogError `log_overloaded` at once when too many bytes are waiting; EventLogUnavailable after about 5 s
   * without an acknowledgement (the records may have been written: send them again with the same ids); `invalid_record`
   * and `record_too_large` for a record that can never be written.
   */
  write(records: readonly OutgoingRecord[]): Promise<RecordPosition[]>;
}

/** A writer that can also park records of a source topic, which are of no declared type. */
export interface SourceWriter extends RecordWriter {
  /**
   * Writes dead letters of records that could not be taken.
   * @throws as `write` does
   */
  park(letters: readonly SourceLetter[]): Promise<void>;
}

export interface RecordWriterOptions {
  /** Maximum bytes waiting for the request in flight; beyond it write() rejects. Default 32 MiB. */
  maxBufferedBytes?: number;
  /** Milliseconds after which a write is rejected. Default 5,000. */
  timeoutMs?: number;
}

/**
 * A writer with natural batching: each broker has one request in flight, and records that arrive meanwhile form the
 * next one. A batch that fails transiently (a leader moved, a connection broke) is sent again to the partition's
 * current leader with the same sequence number, so it is written once; while one partition waits for its leader, the
 * others continue.
 */
export function createRecordWriter(
  log: EventLog,
  options: RecordWriterOptions = {},
): Component<RecordWriter> {
  return createSourceWriter(log, options);
}

/** The same writer, which also parks records of a source topic. */
export function createSourceWriter(
  log: EventLog,
  options: RecordWriterOptions = {},
): Component<SourceWriter> {
  const writer = new BatchingWriter(log, options);
  return {
    name: 'record writer',
    start() {
      writer.start();
      return Promise.resolve({ value: writer, stop: () => writer.stop() });
    },
  };
}

class BatchingWriter implements SourceWriter {
  readonly #timeoutMs: number;
  readonly #budget: ByteBudget;
  readonly #queues = new Map<string, PartitionQueue>();
  readonly #connection: ProducerConnection;
  readonly #sender: QueueSender;
  #isStopped = false;

  constructor(
    private readonly log: EventLog,
    { maxBufferedBytes = 32 * 1024 * 1024, timeoutMs = 5_000 }: RecordWriterOptions,
  ) {
    const { logger, connect } = log[internals];
    const queues = () => this.#queues.values();
    this.#timeoutMs = timeoutMs;
    this.#budget = new ByteBudget(maxBufferedBytes);
    this.#connection = new ProducerConnection({
      connect,
      logger,
      timeoutMs,
      topics: () => [...queues()].map(({ topic }) => topic),
      onReady: () => this.#sender.schedule(),
    });
    this.#sender = new QueueSender({ queues, connection: this.#connection, logger, timeoutMs });
  }

  /** Does not wait for the connection: brokers that are away at the start are no reason to fail. */
  start(): void {
    this.#connection.renew('start');
  }

  async write(records: readonly OutgoingRecord[]): Promise<RecordPosition[]> {
    if (this.#isStopped) throw new EventLogError('closed', 'the record writer is stopped');
    if (records.length === 0) return [];
    const now = Date.now();
    const trace = traceHeaders();
    return this.#enqueue(
      records.map((record) => ({
        ...encodeRecord(this.log, record, now, trace),
        name: record.declaration.topic,
      })),
    );
  }

  async park(letters: readonly SourceLetter[]): Promise<void> {
    if (this.#isStopped) throw new EventLogError('closed', 'the record writer is stopped');
    if (letters.length === 0) return;
    const now = Date.now();
    await this.#enqueue(letters.map((letter) => sourceLetterMessage(this.log, letter, now)));
  }

  async stop(): Promise<void> {
    const giveUpAt = Date.now() + this.#timeoutMs;
    while (this.#budget.used > 0 && Date.now() < giveUpAt) await pause(10);
    this.#isStopped = true;
    for (const queue of this.#queues.values())
      queue.rejectAll(new EventLogError('closed', 'the record writer is stopped', { retriable: true }));
    this.#queues.clear();
    this.#connection.close();
  }

  /**
   * A separate method, so that nothing that lives until the acknowledgement refers to the records: every garbage
   * collection would copy them.
   */
  #enqueue(encoded: readonly (EncodedRecord & { name: TopicName })[]): Promise<RecordPosition[]> {
    this.#budget.check(encoded.reduce((sum, { bytes }) => sum + bytes, 0));
    const write = new PendingWrite(encoded.length, this.#timeoutMs, this.#expire);
    encoded.forEach(({ topic, partition, name, message, bytes }, index) => {
      this.#queueOf(topic, partition).add({ write, index, name, message, bytes });
    });
    this.#sender.schedule();
    return write.done;
  }

  #queueOf(topic: string, partition: number): PartitionQueue {
    const name = partitionName({ topic, partition });
    let queue = this.#queues.get(name);
    if (!queue) this.#queues.set(name, (queue = new PartitionQueue(topic, partition, this.#budget)));
    return queue;
  }

  readonly #expire = (write: PendingWrite): void => {
    write.reject(new EventLogUnavailable(`the brokers did not acknowledge within ${this.#timeoutMs} ms`));
    for (const queue of this.#queues.values()) {
      queue.dropSettled();
      if (queue.awaitsRetry()) this.#sender.dropAbandoned(queue);
    }
  };
}
