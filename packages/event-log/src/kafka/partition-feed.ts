// Reads all partitions of a process: one fetch at a time from each broker, for all sources that it leads. Records are
// buffered until they are taken, up to a limit for each source.
import { EventLogUnavailable } from '../errors.js';
import { pause } from '../timing.js';
import type { FetchedPartition } from './broker.js';
import { errorOfCode } from './error-codes.js';
import { partitionName } from './idempotent-appender.js';
import { isTransient, type KafkaConnection } from './kafka-connection.js';
import { protocolErrorType } from './kafka-errors.js';
import { assertNotBeyondEnd, committedRecords, type FetchResult } from './partition-reader.js';

/** A partition of a topic (wire name), and the next offset to read. */
export interface FeedSource {
  topic: string;
  partition: number;
  offset: bigint;
}

/** The records of a source that arrived since its buffer was taken last. */
export interface BufferedRecords extends FetchResult {
  topic: string;
  partition: number;
  /** The time at which the first record arrived, in monotonic milliseconds. */
  arrivedAt: number;
  bytes: number;
}

export interface FeedOptions {
  maxBytesPerSource: number;
  /**
   * Milliseconds between an answer that reaches the end of all its sources and the next fetch: for a reader that is in no hurry. An answer
   * with a few records costs a broker and a process nearly as much as one with many. Default: 5.
   */
  gatherMs?: number;
  /** Called after each answer with records. */
  onArrival(): void;
  /** Called for each partition in an answer, with or without records. */
  onAnswer(partition: number): void;
  /** Called when a source cannot be read; its partition is removed. */
  onFailure(partition: number, error: unknown): void;
  /** Called when retention deleted records of a source before they were read. */
  onOffsetLost(source: { topic: string; partition: number }, wanted: bigint, earliest: bigint): void;
}

interface Source {
  readonly topic: string;
  readonly partition: number;
  offset: bigint;
  buffered: BufferedRecords | undefined;
  /** The time of the first failure, and the time of the next attempt. */
  failure: { since: number; retryAt: number } | undefined;
  /** True while the feed looks up the offset at which the source continues. */
  isFindingOffset: boolean;
}

/**
 * A fetch without records waits as long as no record has come so far, within these milliseconds: a quiet log costs little, and the
 * sources of partitions that are assigned one after the other wait for a short fetch.
 */
const quietWaitMs = { shortest: 250, longest: 1_000 };
/** Maximum wait while the buffer of a source is full, because it will be taken soon. */
const shortWaitMs = 20;
/** Shortest pause between an answer with records and the next fetch: a fetch for each record would cost too much. */
const shortestGatherMs = 5;
const retryMs = 100;
/** Milliseconds for which a source may fail before it is given up. */
const patienceMs = 10_000;
/**
 * Above this number of buffered bytes only sources with an empty buffer are read: limits memory with many partitions.
 */
const maxBufferedSourceBytes = 32 * 1024 * 1024;
/** Maximum bytes of one answer, for any number of partitions. */
const maxAnswerBytes = 16 * 1024 * 1024;

export class PartitionFeed {
  readonly #sources = new Map<string, Source>();
  readonly #fetchedLeaders = new Set<number>();
  readonly #closing = new AbortController();
  #changed = new AbortController();
  #refreshing = false;
  /** When the last record came or the last source was added, in monotonic milliseconds. */
  #quietSince = performance.now();

  constructor(
    private readonly connection: KafkaConnection,
    private readonly options: FeedOptions,
  ) {}

  add(sources: readonly FeedSource[]): void {
    for (const { topic, partition, offset } of sources) {
      const source = {
        topic,
        partition,
        offset,
        buffered: undefined,
        failure: undefined,
        isFindingOffset: false,
      };
      this.#sources.set(partitionName(source), source);
    }
    this.#quietSince = performance.now();
    this.#startFetching();
  }

  /** Stops reading all topics of this partition, and drops their buffers. */
  remove(partition: number): void {
    for (const [name, source] of this.#sources)
      if (source.partition === partition) this.#sources.delete(name);
    this.#wake();
  }

  /** The non-empty buffers. */
  buffered(): BufferedRecords[] {
    return [...this.#sources.values()].flatMap(({ buffered }) => buffered ?? []);
  }

  /** Empties a buffer that the cycle has taken. */
  take({ topic, partition }: BufferedRecords): void {
    const source = this.#sources.get(partitionName({ topic, partition }));
    if (source) source.buffered = undefined;
    this.#wake();
  }

  close(): void {
    this.#closing.abort();
    this.#sources.clear();
    this.#wake();
    this.connection.close();
  }

  #startFetching(): void {
    let isLeaderless = false;
    for (const source of this.#sources.values()) {
      const leader = this.#leaderOf(source);
      if (leader === undefined) isLeaderless = true;
      else if (!this.#fetchedLeaders.has(leader)) {
        this.#fetchedLeaders.add(leader);
        void this.#fetchFrom(leader);
      }
    }
    if (isLeaderless) void this.#findLeaders();
    this.#wake();
  }

  #leaderOf({ topic, partition }: Source): number | undefined {
    try {
      return this.connection.leaderId(topic, partition);
    } catch {
      return undefined;
    }
  }

  /** Fetches from one broker, one request at a time, until it leads no source. */
  async #fetchFrom(leader: number): Promise<void> {
    while (!this.#isClosed()) {
      const led = [...this.#sources.values()].filter((source) => this.#leaderOf(source) === leader);
      if (led.length === 0) break;
      const isMemoryFull = this.#bufferedBytes() >= maxBufferedSourceBytes;
      const wanted = led.filter((source) => this.#isWanted(source, isMemoryFull));
      if (wanted.length === 0) {
        await pause(quietWaitMs.shortest, this.#changed.signal);
        continue;
      }
      const hasAll = wanted.length === led.length;
      const hasAnswer = await this.#fetch(leader, wanted, hasAll ? this.#waitMs() : shortWaitMs);
      if (hasAnswer) await pause(this.#gatherMs(wanted), this.#closing.signal);
    }
    this.#fetchedLeaders.delete(leader);
  }

  #waitMs(): number {
    const quietMs = Math.round(performance.now() - this.#quietSince);
    return Math.min(Math.max(quietMs, quietWaitMs.shortest), quietWaitMs.longest);
  }

  #isWanted({ buffered, isFindingOffset, failure }: Source, isMemoryFull: boolean): boolean {
    if (isFindingOffset || (failure && performance.now() < failure.retryAt)) return false;
    return buffered === undefined || (!isMemoryFull && buffered.bytes < this.options.maxBytesPerSource);
  }

  #gatherMs(fetched: readonly Source[]): number {
    const { gatherMs = shortestGatherMs } = this.options;
    const isBehind = fetched.some(({ buffered, offset }) => buffered && offset < buffered.stableEnd);
    return isBehind ? shortestGatherMs : gatherMs;
  }

  #bufferedBytes(): number {
    let bytes = 0;
    for (const { buffered } of this.#sources.values()) bytes += buffered?.bytes ?? 0;
    return bytes;
  }

  /** @returns whether the answer has records or an error */
  async #fetch(leader: number, wanted: readonly Source[], waitMs: number): Promise<boolean> {
    try {
      const broker = await this.connection.broker(leader);
      const { responses } = await broker.fetch({
        isolationLevel: 1,
        maxWaitTime: waitMs,
        minBytes: 1,
        maxBytes: maxAnswerBytes,
        topics: this.#topicsOf(wanted),
      });
      return this.#takeAnswer(wanted, responses);
    } catch (error) {
      for (const source of wanted) this.#failed(source, error);
      await pause(retryMs, this.#closing.signal);
      await this.#findLeaders();
      return false;
    }
  }

  #topicsOf(wanted: readonly Source[]) {
    const topics = new Map<string, { partition: number; fetchOffset: string; maxBytes: number }[]>();
    for (const { topic, partition, offset, buffered } of wanted) {
      const maxBytes = Math.max(1, this.options.maxBytesPerSource - (buffered?.bytes ?? 0));
      const asked = { partition, fetchOffset: offset.toString(), maxBytes };
      const others = topics.get(topic);
      if (others) others.push(asked);
      else topics.set(topic, [asked]);
    }
    return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
  }

  #takeAnswer(
    wanted: readonly Source[],
    responses: readonly { topicName: string; partitions: FetchedPartition[] }[],
  ): boolean {
    const asked = new Map(wanted.map((source) => [partitionName(source), source]));
    let hasRecords = false;
    let hasFailed = false;
    for (const { topicName: topic, partitions } of responses)
      for (const answer of partitions) {
        const name = partitionName({ topic, partition: answer.partition });
        const source = asked.get(name);
        // A source that was removed meanwhile, and possibly added again at another offset, must not get this answer.
        if (!source || this.#sources.get(name) !== source) continue;
        const error = answer.unreadable ?? errorOfCode(answer.errorCode);
        if (!error) hasRecords = this.#buffer(source, answer) || hasRecords;
        else if (protocolErrorType(error) === 'OFFSET_OUT_OF_RANGE') void this.#findOffset(source, error);
        else {
          this.#failed(source, error);
          hasFailed = true;
        }
      }
    if (hasRecords) {
      this.#quietSince = performance.now();
      this.options.onArrival();
    }
    if (hasFailed) void this.#findLeaders();
    return hasRecords || hasFailed;
  }

  #buffer(source: Source, answer: FetchedPartition): boolean {
    source.failure = undefined;
    this.options.onAnswer(source.partition);
    const fetched = committedRecords(answer, source.offset);
    // Also for an answer with only a commit marker: the cycle must see that the position is reached.
    if (fetched.nextOffset === source.offset) {
      if (source.buffered) Object.assign(source.buffered, endsOf(fetched));
      return false;
    }
    source.offset = fetched.nextOffset;
    const { topic, partition, buffered } = source;
    const bytes = fetched.records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    if (!buffered) source.buffered = { topic, partition, arrivedAt: performance.now(), bytes, ...fetched };
    else {
      buffered.records.push(...fetched.records);
      buffered.bytes += bytes;
      buffered.nextOffset = fetched.nextOffset;
      Object.assign(buffered, endsOf(fetched));
    }
    return true;
  }

  /** Records a failure of a source; gives the source up after a permanent error or `patienceMs`. */
  #failed(source: Source, error: unknown): void {
    if (this.#sources.get(partitionName(source)) !== source) return;
    const now = performance.now();
    source.failure = { since: source.failure?.since ?? now, retryAt: now + retryMs };
    if (isTransient(error) && now - source.failure.since < patienceMs) return;
    this.#giveUp(source, error);
  }

  #giveUp(source: Source, error: unknown): void {
    if (this.#sources.get(partitionName(source)) !== source) return;
    this.remove(source.partition);
    this.options.onFailure(source.partition, error);
  }

  /**
   * Handles an offset that the leader does not have: retention has deleted it, or the leader is stale, or the topic was
   * truncated.
   */
  async #findOffset(source: Source, cause: unknown): Promise<void> {
    const { topic, partition, offset } = source;
    source.isFindingOffset = true;
    try {
      const earliest = await this.connection.offset(topic, partition, 'earliest');
      if (offset < earliest) {
        this.options.onOffsetLost({ topic, partition }, offset, earliest);
        // A pending answer of the old leader may have advanced the source meanwhile.
        if (source.offset < earliest) source.offset = earliest;
      } else await assertNotBeyondEnd(this.connection, { topic, partition, position: offset }, cause);
    } catch (error) {
      this.#giveUp(source, error);
    } finally {
      source.isFindingOffset = false;
      this.#wake();
    }
  }

  /** Reads the leaders again; one refresh at a time. */
  async #findLeaders(): Promise<void> {
    if (this.#refreshing || this.#isClosed()) return;
    this.#refreshing = true;
    await pause(retryMs, this.#closing.signal);
    await this.connection.refresh().catch((error: unknown) => {
      for (const source of this.#sources.values()) if (source.failure) this.#failed(source, error);
    });
    this.#refreshing = false;
    const leaderless = [...this.#sources.values()].filter((source) => this.#leaderOf(source) === undefined);
    for (const source of leaderless) this.#failed(source, noLeader(source));
    if (!this.#isClosed()) this.#startFetching();
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #wake(): void {
    this.#changed.abort();
    this.#changed = new AbortController();
  }
}

function endsOf({ highWatermark, stableEnd }: FetchResult): Pick<FetchResult, 'highWatermark' | 'stableEnd'> {
  return { highWatermark, stableEnd };
}

function noLeader({ topic, partition }: Source): Error {
  return new EventLogUnavailable(`${topic} ${partition} has no leader now`);
}
