// Tails a topic: reads all its partitions concurrently, each in order.
import type { TopicName } from '@lead-scoring/contracts';
import { headerText, recordHeaders } from './codec.js';
import { internals, type EventLog } from './event-log.js';
import { isMeaningless } from './input-positions.js';
import { unavailable } from './kafka/access-errors.js';
import type { KafkaConnection } from './kafka/kafka-connection.js';
import { createPartitionReader, untilCurrentEnd, type RawRecord } from './kafka/partition-reader.js';
import type { IncomingRecord } from './records.js';
import { unlessAborted } from './timing.js';

/** Maximum bytes of one fetch of one partition. */
const fetchBytes = 256 * 1024;
/** Milliseconds after which a fetch without records returns. */
const longWaitMs = 2_000;

/** A record of a tailed topic; `error` is the reason why its payload could not be decoded. */
export type TailedRecord = IncomingRecord & { error?: string };

export interface TailOptions {
  /** Where reading starts. Default: the end. A time: the first record written at it or later. */
  from?: 'beginning' | 'end' | Date;
  /** Whether the tail waits for further records; default true. False: it ends at the current end. */
  follow?: boolean;
  signal?: AbortSignal;
}

/** The records of all partitions of a topic, in order within each partition. */
export async function* tail(
  log: EventLog,
  topic: TopicName,
  options: TailOptions = {},
): AsyncIterable<TailedRecord> {
  const { signal } = options;
  const tailing = new TopicTail(log, topic, options);
  const end = () => tailing.end();
  signal?.addEventListener('abort', end);
  if (signal?.aborted) end();
  tailing.start();
  try {
    for (let next = await tailing.next(); next; next = await tailing.next()) {
      yield* next.records;
      next.taken();
    }
  } finally {
    end();
    signal?.removeEventListener('abort', end);
  }
}

/** Records of one partition; `taken` starts the next fetch. */
interface TailedBatch {
  records: TailedRecord[];
  taken: () => void;
}

class TopicTail {
  readonly #ending = new AbortController();
  readonly #ready: TailedBatch[] = [];
  /** Partitions that are still being read. */
  #following = 0;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(
    private readonly log: EventLog,
    private readonly topic: TopicName,
    private readonly options: TailOptions,
  ) {}

  start(): void {
    const { partitions } = this.log.config;
    this.#following = partitions;
    for (let partition = 0; partition < partitions; partition++) void this.#follow(partition);
  }

  /**
   * @returns undefined at the end
   * @throws EventLogUnavailable when a partition cannot be read
   */
  async next(): Promise<TailedBatch | undefined> {
    while (!this.#hasEnded()) {
      const batch = this.#ready.shift();
      if (batch) return batch;
      if (this.#failure) throw this.#failure;
      if (this.#following === 0) return undefined;
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      await unlessAborted(woken, this.#ending.signal);
    }
    return undefined;
  }

  end(): void {
    this.#ending.abort();
    for (const { taken } of this.#ready) taken();
  }

  async #follow(partition: number): Promise<void> {
    const { config, [internals]: inside } = this.log;
    const connection = inside.connect();
    try {
      await connection.open([inside.wire(this.topic)]);
      await this.#read(connection, partition);
    } catch (error) {
      this.#failure ??= unavailable(`${this.topic} cannot be read`, error, config);
    } finally {
      connection.close();
      this.#following -= 1;
      this.#wake();
    }
  }

  async #read(connection: KafkaConnection, partition: number): Promise<void> {
    const { from = 'end', follow = true } = this.options;
    const { signal } = this.#ending;
    const topic = this.log[internals].wire(this.topic);
    const reader = createPartitionReader(connection, topic, partition, { signal });
    const start = from === 'beginning' ? 'earliest' : from === 'end' ? 'latest' : from;
    let offset = await connection.offset(topic, partition, start);
    const isEnd = follow ? () => false : await untilCurrentEnd(connection, topic, partition);
    for (let maxWaitMs = follow ? longWaitMs : 0; !signal.aborted; maxWaitMs = longWaitMs) {
      const fetch = reader.fetch(offset, { maxBytes: fetchBytes, maxWaitMs });
      const fetched = await unlessAborted(fetch, signal);
      if (!fetched) return;
      offset = fetched.nextOffset;
      await this.#handOver(partition, fetched.records);
      if (isEnd(fetched)) return;
    }
  }

  /** Resolves once the consumer has taken the records: at most one batch of each partition waits. */
  async #handOver(partition: number, fetched: readonly RawRecord[]): Promise<void> {
    await this.log[internals].codec.loadSchemas(fetched);
    const records = fetched
      .filter((record) => !isMeaningless(record))
      .map((record) => toTailedRecord(this.log, this.topic, partition, record));
    if (records.length === 0 || this.#hasEnded()) return;
    await new Promise<void>((taken) => {
      this.#ready.push({ records, taken });
      this.#wake();
    });
  }

  #hasEnded(): boolean {
    return this.#ending.signal.aborted;
  }
}

function toTailedRecord(log: EventLog, topic: TopicName, partition: number, record: RawRecord): TailedRecord {
  const decoded = log[internals].codec.decode(topic, partition, record);
  if (!('problem' in decoded)) return decoded;
  const type = headerText(record.headers, 'type') ?? '';
  return {
    type,
    topic,
    partition,
    offset: record.offset,
    key: record.key === null ? null : record.key.toString(),
    payload: null,
    headers: recordHeaders(topic, partition, record, type),
    error: decoded.problem,
  };
}
