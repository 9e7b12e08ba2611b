// Sends commands and waits for their replies.
import { randomUUID } from 'node:crypto';
import type { records } from '@lead-scoring/contracts';
import type { Component } from './component.js';
import { EventLogError, PositionBeyondEnd, ReplyTimeout } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { headerText } from './codec.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { createPartitionReader, type RawRecord } from './kafka/partition-reader.js';
import type { OutgoingRecord } from './records.js';
import { pause } from './timing.js';
import type { RecordWriter } from './writer.js';

/** Milliseconds between an error of the reply reader and its next connection. */
const retryMs = 500;
/** Milliseconds after which a fetch without replies returns. */
const longestWaitMs = 2_000;
/** Milliseconds that a stop waits for a running fetch. */
const stopTimeoutMs = 1_000;

export interface Requester {
  /**
   * Writes a command and resolves with the processor's reply.
   * @throws ReplyTimeout when no reply arrived in time: the command may still take effect.
   */
  request(record: OutgoingRecord, options: { timeoutMs: number }): Promise<records.CommandReplied>;
}

/**
 * Creates a requester with its own instance name. Replies carry the name as their key, so all of them are in one
 * partition of `replies`, which the requester reads from its end without a consumer group.
 */
export function createRequester(log: EventLog, { writer }: { writer: RecordWriter }): Component<Requester> {
  const instance = randomUUID();
  const requests = new PendingRequests(writer, instance);
  return {
    name: 'requester',
    async start() {
      const reader = new ReplyReader(log, instance, requests);
      await reader.open();
      const reading = reader.run();
      return {
        value: requests,
        async stop() {
          reader.close();
          await Promise.race([reading, pause(stopTimeoutMs)]);
        },
      };
    },
  };
}

/** The pending requests of this instance, by correlation id. */
class PendingRequests implements Requester {
  readonly #waiting = new Map<string, (reply: records.CommandReplied) => void>();

  constructor(
    private readonly writer: RecordWriter,
    private readonly instance: string,
  ) {}

  async request(
    record: OutgoingRecord,
    { timeoutMs }: { timeoutMs: number },
  ): Promise<records.CommandReplied> {
    const correlationId = record.headers?.['correlation-id'] ?? randomUUID();
    if (this.#waiting.has(correlationId))
      throw new EventLogError(
        'invalid_record',
        `a request with the correlation id ${correlationId} is pending`,
      );
    let timer: NodeJS.Timeout | undefined;
    const reply = new Promise<records.CommandReplied>((resolve, reject) => {
      this.#waiting.set(correlationId, resolve);
      timer = setTimeout(() => {
        reject(new ReplyTimeout(`no reply to ${record.declaration.type} within ${timeoutMs} ms`));
      }, timeoutMs);
    });
    // When the write fails, its error is thrown and the reply is not awaited.
    reply.catch(() => undefined);
    try {
      const headers = { ...record.headers, 'correlation-id': correlationId, 'reply-to': this.instance };
      await this.writer.write([{ ...record, headers }]);
      return await reply;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(correlationId);
    }
  }

  isWaitingFor(correlationId: string): boolean {
    return this.#waiting.has(correlationId);
  }

  answer(correlationId: string, reply: records.CommandReplied): void {
    this.#waiting.get(correlationId)?.(reply);
  }
}

/** Reads the partition of `replies` that holds this instance's replies, and resolves the pending requests. */
class ReplyReader {
  readonly #closing = new AbortController();
  readonly #partition: number;
  readonly #topic: string;
  #connection: KafkaConnection;
  #offset = 0n;

  constructor(
    private readonly log: EventLog,
    private readonly instance: string,
    private readonly requests: PendingRequests,
  ) {
    this.#partition = log.partitionOf(instance);
    this.#topic = log[internals].wire('replies');
    this.#connection = log[internals].connect();
  }

  async open(): Promise<void> {
    await this.#connection.open([this.#topic]);
    this.#offset = await this.#end();
  }

  /** Reads until `close`, and connects again after each error. */
  async run(): Promise<void> {
    const { logger } = this.log[internals];
    while (!this.#isClosed()) {
      try {
        await this.#readOn();
      } catch (error) {
        if (this.#isClosed()) return;
        logger.warn({ err: error }, 'replies cannot be read; connecting again');
        await this.#connectAgain(error);
      }
    }
  }

  close(): void {
    this.#closing.abort();
    this.#connection.close();
  }

  async #readOn(): Promise<void> {
    const { signal } = this.#closing;
    const reader = createPartitionReader(this.#connection, this.#topic, this.#partition, { signal });
    while (!this.#isClosed()) {
      const fetched = await reader.fetch(this.#offset, { maxBytes: 1024 * 1024, maxWaitMs: longestWaitMs });
      await this.log[internals].codec.loadSchemas(fetched.records);
      this.#offset = fetched.nextOffset;
      for (const record of fetched.records) this.#take(record);
    }
  }

  #take(record: RawRecord): void {
    const correlationId = headerText(record.headers, 'correlation-id') ?? '';
    if (headerText(record.headers, 'reply-to') !== this.instance) return;
    if (!this.requests.isWaitingFor(correlationId)) return;
    const { codec, logger } = this.log[internals];
    const decoded = codec.decode('replies', this.#partition, record);
    if ('problem' in decoded) logger.error({ problem: decoded.problem }, 'a reply cannot be read');
    else this.requests.answer(correlationId, decoded.payload as records.CommandReplied);
  }

  async #connectAgain(error: unknown): Promise<void> {
    this.#connection.close();
    await pause(retryMs, this.#closing.signal);
    if (this.#isClosed()) return;
    this.#connection = this.log[internals].connect();
    await this.#connection.open([this.#topic]).catch(() => undefined);
    if (this.#isClosed()) {
      this.#connection.close();
      return;
    }
    // Replies lost with the topic do not arrive again: their callers run into their timeouts.
    if (error instanceof PositionBeyondEnd) this.#offset = await this.#end().catch(() => this.#offset);
  }

  #end(): Promise<bigint> {
    return this.#connection.offset(this.#topic, this.#partition, 'latest');
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}
