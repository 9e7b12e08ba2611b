// Writes records from outside of a processor, many callers' records in one request.
import type { TopicName } from '@lead-scoring/contracts';
import type { Component } from './component.js';
import { EventLogError, EventLogUnavailable } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { partitionName } from './kafka/idempotent-appender.js';
import { encodeRecord, traceHeaders, type EncodedRecord } from './outgoing.js';
import type { OutgoingRecord } from './records.js';
import { pause } from './timing.js';
import { ByteBudget } from './writing/byte-budget.js';
import { Lane } from './writing/lane.js';
import { LaneSender } from './writing/lane-sender.js';
import { PendingWrite, type RecordPosition } from './writing/pending-write.js';
import { ProducerConnection } from './writing/producer-connection.js';

export type { RecordPosition } from './writing/pending-write.js';

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

/**
 * A writer with natural batching: each broker has one request in flight, and what arrives meanwhile is its next. A batch
 * that fails in passing (a leader moved, a connection broke) is sent again to whoever leads its partition then, with the
 * same sequence number, so it is written once; while one partition waits for its leader, the others go on.
 */
export function createRecordWriter(
  log: EventLog,
  options: RecordWriterOptions = {},
): Component<RecordWriter> {
  const writer = new BatchingWriter(log, options);
  return {
    name: 'record writer',
    start() {
      writer.start();
      return Promise.resolve({ value: writer, stop: () => writer.stop() });
    },
  };
}

class BatchingWriter implements RecordWriter {
  readonly #timeoutMs: number;
  readonly #budget: ByteBudget;
  readonly #lanes = new Map<string, Lane>();
  readonly #connection: ProducerConnection;
  readonly #sender: LaneSender;
  #isStopped = false;

  constructor(
    private readonly log: EventLog,
    { maxBufferedBytes = 32 * 1024 * 1024, timeoutMs = 5_000 }: RecordWriterOptions,
  ) {
    const { logger, connect } = log[internals];
    const lanes = () => this.#lanes.values();
    this.#timeoutMs = timeoutMs;
    this.#budget = new ByteBudget(maxBufferedBytes);
    this.#connection = new ProducerConnection({
      connect,
      logger,
      timeoutMs,
      topics: () => [...lanes()].map(({ topic }) => topic),
      onReady: () => this.#sender.schedule(),
    });
    this.#sender = new LaneSender({ lanes, connection: this.#connection, logger, timeoutMs });
  }

  /** Writes wait for the connection; a broker that is away at the start is not a reason to fail. */
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

  async stop(): Promise<void> {
    const giveUpAt = Date.now() + this.#timeoutMs;
    while (this.#budget.used > 0 && Date.now() < giveUpAt) await pause(10);
    this.#isStopped = true;
    for (const lane of this.#lanes.values())
      lane.rejectAll(new EventLogError('closed', 'the record writer is stopped', { retriable: true }));
    this.#lanes.clear();
    this.#connection.close();
  }

  /**
   * A method of its own, so that nothing that lives until the brokers answer refers to the records: what is in flight
   * would be copied by every collection.
   */
  #enqueue(encoded: readonly (EncodedRecord & { name: TopicName })[]): Promise<RecordPosition[]> {
    this.#budget.check(encoded.reduce((sum, { bytes }) => sum + bytes, 0));
    const write = new PendingWrite(encoded.length, this.#timeoutMs, this.#expire);
    encoded.forEach(({ topic, partition, name, message, bytes }, index) => {
      this.#laneOf(topic, partition).add({ write, index, name, message, bytes });
    });
    this.#sender.schedule();
    return write.done;
  }

  #laneOf(topic: string, partition: number): Lane {
    const name = partitionName({ topic, partition });
    let lane = this.#lanes.get(name);
    if (!lane) this.#lanes.set(name, (lane = new Lane(topic, partition, this.#budget)));
    return lane;
  }

  readonly #expire = (write: PendingWrite): void => {
    write.reject(new EventLogUnavailable(`the brokers did not acknowledge within ${this.#timeoutMs} ms`));
    for (const lane of this.#lanes.values()) {
      lane.dropSettled();
      if (lane.hasTurnedBack()) this.#sender.dropAbandoned(lane);
    }
  };
}
