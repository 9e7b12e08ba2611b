// Reads all partitions that a process works on: one fetch at a time from each broker, for all that it leads. What comes is
// gathered until it is taken, up to a limit for each partition of a topic.
import { EventLogUnavailable } from '../errors.js';
import { pause } from '../timing.js';
import type { FetchedPartition } from './broker.js';
import { errorOfCode } from './error-codes.js';
import { partitionName } from './idempotent-appender.js';
import { mayPass, type KafkaConnection } from './kafka-connection.js';
import { protocolErrorType } from './kafka-errors.js';
import { assertNotBeyondEnd, committedRecords, type Fetched } from './partition-reader.js';

/** One partition of one topic, as named on the wire, and where to read it on. */
export interface FeedSource {
  topic: string;
  partition: number;
  offset: bigint;
}

/** The records that a source has brought since the cycle took its records last. */
export interface Gathered extends Fetched {
  topic: string;
  partition: number;
  /** When the first of it came, in monotonic milliseconds. */
  cameAt: number;
  bytes: number;
}

export interface FeedOptions {
  maxBytesPerSource: number;
  /** Called after each answer that has brought something. */
  onArrival(): void;
  /** Called for each partition that an answer names, whether there was something or not. */
  onAnswer(partition: number): void;
  /** The source can not be read, and is removed. */
  onFailure(partition: number, error: unknown): void;
  /** Records of a source were gone by their age before they were read. */
  onOffsetLost(source: { topic: string; partition: number }, wanted: bigint, earliest: bigint): void;
}

interface Source {
  readonly topic: string;
  readonly partition: number;
  offset: bigint;
  gathered: Gathered | undefined;
  /** When it began to fail, and when it is asked for again. */
  failure: { since: number; retryAt: number } | undefined;
  /** The feed is asking the leader for the offset at which the source goes on. */
  isAsked: boolean;
}

/** A fetch that finds nothing returns after this many milliseconds: long enough to be cheap, short enough for new sources. */
const maxWaitMs = 250;
/** The same, where a source is full: what it has is about to be taken. */
const shortWaitMs = 20;
/** Milliseconds between an answer with records and the next fetch: a fetch for each record would cost much. */
const gatherMs = 5;
const retryMs = 100;
/** Milliseconds for which a leader may be away. */
const patienceMs = 10_000;
/** Above so many gathered bytes only sources that have nothing gathered are read: bounds memory with many partitions. */
const maxGatheredBytes = 32 * 1024 * 1024;
/** Bytes of one answer, whatever the number of partitions. */
const maxAnswerBytes = 16 * 1024 * 1024;

export class PartitionFeed {
  readonly #sources = new Map<string, Source>();
  readonly #lanes = new Set<number>();
  readonly #closing = new AbortController();
  #changed = new AbortController();
  #refreshing = false;

  constructor(
    private readonly connection: KafkaConnection,
    private readonly options: FeedOptions,
  ) {}

  add(sources: readonly FeedSource[]): void {
    for (const { topic, partition, offset } of sources) {
      const source = { topic, partition, offset, gathered: undefined, failure: undefined, isAsked: false };
      this.#sources.set(partitionName(source), source);
    }
    this.#startLanes();
  }

  /** Reads no topic of this partition any more, and drops the records that are gathered. */
  remove(partition: number): void {
    for (const [name, source] of this.#sources)
      if (source.partition === partition) this.#sources.delete(name);
    this.#wake();
  }

  /** The gathered records that the cycle has not taken yet. */
  gathered(): Gathered[] {
    return [...this.#sources.values()].flatMap(({ gathered }) => gathered ?? []);
  }

  /** The cycle has taken a source's gathered records: the source gathers anew. */
  take({ topic, partition }: Gathered): void {
    const source = this.#sources.get(partitionName({ topic, partition }));
    if (source) source.gathered = undefined;
    this.#wake();
  }

  close(): void {
    this.#closing.abort();
    this.#sources.clear();
    this.#wake();
    this.connection.close();
  }

  #startLanes(): void {
    let isLeaderless = false;
    for (const source of this.#sources.values()) {
      const leader = this.#leaderOf(source);
      if (leader === undefined) isLeaderless = true;
      else if (!this.#lanes.has(leader)) {
        this.#lanes.add(leader);
        void this.#runLane(leader);
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

  /** Fetches from one broker, one request at a time, until it leads nothing that is read here. */
  async #runLane(leader: number): Promise<void> {
    while (!this.#isClosed()) {
      const led = [...this.#sources.values()].filter((source) => this.#leaderOf(source) === leader);
      if (led.length === 0) break;
      const isMuch = this.#gatheredBytes() >= maxGatheredBytes;
      const wanted = led.filter((source) => this.#isWanted(source, isMuch));
      if (wanted.length === 0) {
        await pause(maxWaitMs, this.#changed.signal);
        continue;
      }
      const hasAll = wanted.length === led.length;
      const brought = await this.#fetch(leader, wanted, hasAll ? maxWaitMs : shortWaitMs);
      if (brought) await pause(gatherMs, this.#closing.signal);
    }
    this.#lanes.delete(leader);
  }

  #isWanted({ gathered, isAsked, failure }: Source, isMuch: boolean): boolean {
    if (isAsked || (failure && performance.now() < failure.retryAt)) return false;
    return gathered === undefined || (!isMuch && gathered.bytes < this.options.maxBytesPerSource);
  }

  #gatheredBytes(): number {
    let bytes = 0;
    for (const { gathered } of this.#sources.values()) bytes += gathered?.bytes ?? 0;
    return bytes;
  }

  /** @returns whether anything came */
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
    for (const { topic, partition, offset, gathered } of wanted) {
      const maxBytes = Math.max(1, this.options.maxBytesPerSource - (gathered?.bytes ?? 0));
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
    let brought = false;
    let isMisled = false;
    for (const { topicName: topic, partitions } of responses)
      for (const answer of partitions) {
        const name = partitionName({ topic, partition: answer.partition });
        const source = asked.get(name);
        // A source that was removed meanwhile, and may have been added again at another offset, gets nothing of this answer.
        if (!source || this.#sources.get(name) !== source) continue;
        const error = answer.unreadable ?? errorOfCode(answer.errorCode);
        if (!error) brought = this.#gather(source, answer) || brought;
        else if (protocolErrorType(error) === 'OFFSET_OUT_OF_RANGE') void this.#findOffset(source, error);
        else {
          this.#failed(source, error);
          isMisled = true;
        }
      }
    if (brought) this.options.onArrival();
    if (isMisled) void this.#findLeaders();
    return brought || isMisled;
  }

  #gather(source: Source, answer: FetchedPartition): boolean {
    source.failure = undefined;
    this.options.onAnswer(source.partition);
    const fetched = committedRecords(answer, source.offset);
    // Also where there is nothing but a commit marker: whoever waits for a position must see that it is reached.
    if (fetched.nextOffset === source.offset) {
      if (source.gathered) Object.assign(source.gathered, endsOf(fetched));
      return false;
    }
    source.offset = fetched.nextOffset;
    const { topic, partition, gathered } = source;
    const bytes = fetched.records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
    if (!gathered) source.gathered = { topic, partition, cameAt: performance.now(), bytes, ...fetched };
    else {
      gathered.records.push(...fetched.records);
      gathered.bytes += bytes;
      gathered.nextOffset = fetched.nextOffset;
      Object.assign(gathered, endsOf(fetched));
    }
    return true;
  }

  /** Notes that a source was not answered; gives it up once that has lasted too long, or cannot pass. */
  #failed(source: Source, error: unknown): void {
    if (this.#sources.get(partitionName(source)) !== source) return;
    const now = performance.now();
    source.failure = { since: source.failure?.since ?? now, retryAt: now + retryMs };
    if (mayPass(error) && now - source.failure.since < patienceMs) return;
    this.#giveUp(source, error);
  }

  #giveUp(source: Source, error: unknown): void {
    if (this.#sources.get(partitionName(source)) !== source) return;
    this.remove(source.partition);
    this.options.onFailure(source.partition, error);
  }

  /** The leader has nothing at the source's offset: it is gone by its age, or not there yet, or was never there. */
  async #findOffset(source: Source, cause: unknown): Promise<void> {
    const { topic, partition, offset } = source;
    source.isAsked = true;
    try {
      const earliest = await this.connection.offset(topic, partition, 'earliest');
      if (offset < earliest) {
        this.options.onOffsetLost({ topic, partition }, offset, earliest);
        // Its old leader may have answered meanwhile what it was asked before.
        if (source.offset < earliest) source.offset = earliest;
      } else await assertNotBeyondEnd(this.connection, { topic, partition, position: offset }, cause);
    } catch (error) {
      this.#giveUp(source, error);
    } finally {
      source.isAsked = false;
      this.#wake();
    }
  }

  /** Learns the leaders anew, once at a time. */
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
    if (!this.#isClosed()) this.#startLanes();
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #wake(): void {
    this.#changed.abort();
    this.#changed = new AbortController();
  }
}

function endsOf({ highWatermark, stableEnd }: Fetched): Pick<Fetched, 'highWatermark' | 'stableEnd'> {
  return { highWatermark, stableEnd };
}

function noLeader({ topic, partition }: Source): Error {
  return new EventLogUnavailable(`${topic} ${partition} has no leader now`);
}
