// The cycle of a process: it reads all partitions of the process and handles them in rounds. A partition that is added,
// removed or fails does not stop the others.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { asError } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { idleMs, InputPacer, type BufferedInput } from './input-pacer.js';
import { PartitionFeed, type BufferedRecords } from './kafka/partition-feed.js';
import type { RawRecord } from './kafka/record-batch.js';
import { lossReporter } from './loss-reporter.js';
import type { Touch } from './liveness.js';
import type { ProcessingMetrics } from './metrics.js';
import type { OwnSessionLease } from './session-lease.js';
import type { InputArrival, Session } from './session.js';
import { pause } from './timing.js';

/** A partition's session while it takes part in the cycle. */
export interface CycleMember<Of extends Session = Session> {
  readonly partition: number;
  readonly session: Of;
  readonly lease: OwnSessionLease;
  readonly touch: Touch;
  /** Called after each handled batch of the partition. */
  succeeded(): void;
}

export interface CycleOptions<Of extends Session> {
  log: EventLog;
  inputs: readonly TopicName[];
  metrics: ProcessingMetrics;
  logger: Logger;
  maxBytesPerBatch: number;
  /**
   * True: a round takes the buffered records of all inputs once one input is due. False: only those of inputs with the
   * same topic.
   */
  takesAll: boolean;
  eventsEveryMs: number;
  patienceMs(topic: TopicName): number;
  /** Called when members begin a round, and when one of them has ended its part of it. */
  round?: { begin(members: readonly CycleMember<Of>[]): void; ended(member: CycleMember<Of>): void };
}

/**
 * Maximum number of partitions with a large batch in a round. The batches of the others grow while they wait, which
 * saves writes of documents that many records touch; many large batches at once would take more memory than the garbage
 * collector can handle. Small batches are not limited.
 */
const largeBatchesInRound = 2;
/** A batch counts as large from this fraction of `maxBytesPerBatch`. */
const largePart = 1 / 8;
/**
 * Milliseconds after which a round ends without the partitions that are still working. A busy machine takes a second
 * for a round under steady load, and each additional round costs a transaction.
 */
const longestRoundMs = 5_000;
/** Longest time between two flushes of a cycle without records, in milliseconds. */
const longestRestMs = 2_000;
/** Milliseconds between two fetches of inputs that form a batch every `eventsEveryMs`. */
const gatherMs = 100;

export class ProcessCycle<Of extends Session> {
  /** The members, each with the function that rejects its `run`. */
  readonly #members = new Map<CycleMember<Of>, (error: Error) => void>();
  /** For each buffer, how many records were checked for urgency, and whether one is urgent. */
  readonly #scans = new WeakMap<BufferedRecords, { records: number; isUrgent: boolean }>();
  readonly #pacer: InputPacer;
  readonly #topics = new Map<string, TopicName>();
  readonly #stopping = new AbortController();
  #opening: Promise<PartitionFeed> | undefined;
  #feed: PartitionFeed | undefined;
  #running: Promise<void> | undefined;
  #changed = new AbortController();
  /** The running work of each partition; it may outlast its round. */
  readonly #working = new Map<number, Promise<void>>();
  #handledAt = performance.now();
  /** When the last records were handled or the last member came: the cycle rests for as long as that was ago. */
  #quietSince = performance.now();
  /** When each member had its last turn. */
  readonly #turns = new WeakMap<CycleMember<Of>, number>();

  constructor(private readonly options: CycleOptions<Of>) {
    this.#pacer = new InputPacer(options);
    for (const topic of options.inputs) this.#topics.set(options.log[internals].wire(topic), topic);
  }

  /**
   * Feeds a partition until the signal is aborted, and then until the current batch is handled.
   * @throws the error with which the partition has failed
   */
  async run(member: CycleMember<Of>, signal: AbortSignal): Promise<void> {
    const feed = await this.#opened();
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve, reject) => {
      leave = resolve;
      this.#members.set(member, reject);
    });
    const { partition, session } = member;
    const sources = this.options.inputs.map((topic) => {
      const offset = session.positions.get(topic) ?? 0n;
      return { topic: this.options.log[internals].wire(topic), partition, offset };
    });
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    this.#quietSince = performance.now();
    try {
      feed.add(sources);
      await left;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#members.delete(member);
      feed.remove(partition);
      await this.#working.get(partition);
    }
  }

  /**
   * Reports progress of a partition. While it is working, this also counts as progress of the partitions that wait for
   * the end of the round, but not of the other working ones.
   */
  moved(partition: number): void {
    if (!this.#working.has(partition)) return;
    for (const member of this.#members.keys()) if (!this.#working.has(member.partition)) member.touch();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
    this.#feed?.close();
  }

  async #opened(): Promise<PartitionFeed> {
    this.#opening ??= this.#open();
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #open(): Promise<PartitionFeed> {
    const { log, metrics, logger, maxBytesPerBatch, eventsEveryMs } = this.options;
    const connection = log[internals].connect();
    try {
      await connection.open([...this.#topics.keys()]);
    } catch (error) {
      connection.close();
      throw error;
    }
    this.#feed = new PartitionFeed(connection, {
      maxBytesPerSource: maxBytesPerBatch,
      ...(eventsEveryMs > 0 && { gatherMs }),
      onArrival: () => this.#wake(),
      onAnswer: (partition) => this.#memberOf(partition)?.touch(),
      onFailure: (partition, error) => {
        const member = this.#memberOf(partition);
        if (member) this.#fail(member, asError(error));
      },
      onOffsetLost: ({ topic, partition }, wanted, earliest) => {
        const named = this.#topics.get(topic);
        if (named) lossReporter({ logger, metrics, topic: named, partition })(wanted, earliest);
      },
    });
    this.#running = this.#loop(this.#feed);
    return this.#feed;
  }

  #memberOf(partition: number): CycleMember<Of> | undefined {
    for (const member of this.#members.keys()) if (member.partition === partition) return member;
    return undefined;
  }

  #fail(member: CycleMember<Of>, error: Error): void {
    this.#members.get(member)?.(error);
  }

  #wake(): void {
    this.#changed.abort();
  }

  async #loop(feed: PartitionFeed): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#changed = new AbortController();
      const buffered = feed.buffered().filter(({ partition }) => !this.#working.has(partition));
      const now = performance.now();
      for (const { topic } of buffered) this.#pacer.arrived(this.#topicOf(topic), now);
      const inputs = buffered.map((one) => this.#inputOf(one));
      const due = this.#pacer.dueAt(inputs, now);
      // Nothing may be selected although an input is due: large batches wait for the working partitions.
      const selected = due <= now ? this.#selectDue(buffered, inputs, now) : [];
      if (selected.length > 0) await this.#handle(feed, selected);
      else if (now - this.#handledAt >= this.#restMs(now)) await this.#flush();
      else await pause(due > now ? Math.min(due - now, this.#restMs(now)) : idleMs, this.#changed.signal);
    }
  }

  /** Milliseconds between two flushes while no records come: an idle process costs little. */
  #restMs(now: number): number {
    return Math.min(Math.max(now - this.#quietSince, idleMs), longestRestMs);
  }

  #topicOf(wire: string): TopicName {
    const topic = this.#topics.get(wire);
    if (topic === undefined) throw new Error(`${wire} is not an input of this cycle`);
    return topic;
  }

  #inputOf(buffered: BufferedRecords): BufferedInput {
    const topic = this.#topicOf(buffered.topic);
    const isFull = buffered.bytes >= this.options.maxBytesPerBatch;
    const isBehind = isFull || buffered.nextOffset < buffered.stableEnd;
    return { topic, arrivedAt: buffered.arrivedAt, isBehind, isUrgent: this.#hasUrgent(topic, buffered) };
  }

  #hasUrgent(topic: TopicName, buffered: BufferedRecords): boolean {
    const scan = this.#scans.get(buffered) ?? { records: 0, isUrgent: false };
    const { records } = buffered;
    for (; !scan.isUrgent && scan.records < records.length; scan.records += 1) {
      const record = records[scan.records];
      scan.isUrgent = record !== undefined && this.#isUrgent(topic, record);
    }
    this.#scans.set(buffered, scan);
    return scan.isUrgent;
  }

  #isUrgent(topic: TopicName, { headers }: RawRecord): boolean {
    if (headers['reply-to'] !== undefined) return true;
    const type = headers.type?.toString();
    const { schemas } = this.options.log[internals];
    return type === undefined || schemas.declarationOf(topic, type)?.mayWait !== true;
  }

  /**
   * The buffers that the next round handles: all that are due, without the large ones above the limit; the partitions
   * that have waited longest come first.
   */
  #selectDue(
    buffered: readonly BufferedRecords[],
    inputs: readonly BufferedInput[],
    now: number,
  ): readonly BufferedRecords[] {
    const { takesAll, maxBytesPerBatch } = this.options;
    const candidates = takesAll ? buffered : this.#due(buffered, inputs, now);
    const waiting = new Map<number, { arrivedAt: number; bytes: number }>();
    for (const { partition, arrivedAt, bytes } of candidates) {
      const before = waiting.get(partition) ?? { arrivedAt, bytes: 0 };
      waiting.set(partition, {
        arrivedAt: Math.min(before.arrivedAt, arrivedAt),
        bytes: before.bytes + bytes,
      });
    }
    // Each partition still working after its round may hold a large batch.
    let largeBatches = Math.min(this.#working.size, largeBatchesInRound);
    const partitions = new Set<number>();
    for (const [partition, { bytes }] of [...waiting].sort(([, a], [, b]) => a.arrivedAt - b.arrivedAt)) {
      const isLarge = bytes >= maxBytesPerBatch * largePart;
      if (isLarge && largeBatches === largeBatchesInRound) continue;
      if (isLarge) largeBatches += 1;
      partitions.add(partition);
    }
    return candidates.filter(({ partition }) => partitions.has(partition));
  }

  /** The buffers of all topics of which one partition's buffer is due. */
  #due(
    buffered: readonly BufferedRecords[],
    inputs: readonly BufferedInput[],
    now: number,
  ): readonly BufferedRecords[] {
    const due = new Set(
      inputs.filter((one) => this.#pacer.dueAt([one], now) <= now).map(({ topic }) => topic),
    );
    return buffered.filter(({ topic }) => due.has(this.#topicOf(topic)));
  }

  async #handle(feed: PartitionFeed, selected: readonly BufferedRecords[]): Promise<void> {
    const begun = performance.now();
    const topics = new Map<TopicName, { wasBehind: boolean }>();
    const batch = new Map<CycleMember<Of>, InputArrival[]>();
    for (const buffered of selected) {
      feed.take(buffered);
      const topic = this.#topicOf(buffered.topic);
      const wasBehind = buffered.nextOffset < buffered.stableEnd || topics.get(topic)?.wasBehind === true;
      topics.set(topic, { wasBehind });
      this.#measure(topic, buffered, begun);
      const member = this.#memberOf(buffered.partition);
      if (!member) continue;
      const { records, nextOffset } = buffered;
      batch.set(member, [...(batch.get(member) ?? []), { topic, records, nextOffset }]);
    }
    const resting = this.#resting(begun).filter((member) => !batch.has(member));
    await this.#inRound([...batch.keys(), ...resting], async (member) => {
      const arrivals = batch.get(member);
      if (!arrivals) return member.session.rest?.();
      await member.session.handle(arrivals);
      member.succeeded();
    });
    this.#quietSince = this.#handledAt;
    this.#pacer.handled(topics, begun, this.#handledAt);
  }

  #measure(
    topic: TopicName,
    { partition, highWatermark, nextOffset, arrivedAt }: BufferedRecords,
    now: number,
  ): void {
    const { metrics } = this.options;
    metrics.stage('wait', (now - arrivedAt) / 1_000);
    metrics.lag(topic, partition, Number(highWatermark - nextOffset));
  }

  /** While the inputs are idle, each session stores what it has kept in memory. */
  #flush(): Promise<void> {
    return this.#inRound(this.#idle(), async ({ session }) => session.flush?.(false));
  }

  #idle(): CycleMember<Of>[] {
    return [...this.#members.keys()].filter(({ partition }) => !this.#working.has(partition));
  }

  /** The idle members that have had no turn for so long that they would be idle in a process of their own. */
  #resting(now: number): CycleMember<Of>[] {
    return this.#idle().filter((member) => now - (this.#turns.get(member) ?? -Infinity) >= idleMs);
  }

  /**
   * Runs the work of these members concurrently. A member that fails does not affect the others, and the round ends
   * after `longestRoundMs` without a member that is still working.
   */
  async #inRound(
    members: readonly CycleMember<Of>[],
    work: (member: CycleMember<Of>) => Promise<void>,
  ): Promise<void> {
    const { round } = this.options;
    const inRound = new Set(members);
    const leave = (member: CycleMember<Of>) => {
      if (inRound.delete(member)) round?.ended(member);
    };
    round?.begin(members);
    const done = new AbortController();
    const all = members.map(async (member) => {
      await this.#start(member, work);
      leave(member);
      if (inRound.size === 0) done.abort();
    });
    if (all.length > 0) await pause(longestRoundMs, done.signal);
    for (const member of inRound) leave(member);
    this.#handledAt = performance.now();
  }

  /** Runs the work of one member. Never rejects: a failure rejects the member's `run`. */
  #start(member: CycleMember<Of>, work: (member: CycleMember<Of>) => Promise<void>): Promise<void> {
    this.#turns.set(member, performance.now());
    const working = Promise.resolve()
      .then(() => {
        member.lease.check();
        return work(member);
      })
      .then(
        () => member.touch(),
        (error: unknown) => this.#fail(member, asError(error)),
      )
      .finally(() => {
        this.#working.delete(member.partition);
        this.#wake();
      });
    this.#working.set(member.partition, working);
    return working;
  }
}
