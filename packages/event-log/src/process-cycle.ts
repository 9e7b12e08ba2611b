// The cycle of a process: reads all its partitions, and hands over together what they have brought, one batch at a time. A
// partition that comes, goes or fails leaves the others in peace.
import type { TopicName } from '@lead-scoring/contracts';
import type { Logger } from 'pino';
import { asError } from './errors.js';
import { internals, type EventLog } from './event-log.js';
import { idleMs, InputPacer, type GatheredInput } from './input-pacer.js';
import { PartitionFeed, type Gathered } from './kafka/partition-feed.js';
import type { RawRecord } from './kafka/record-batch.js';
import { lossTold } from './lost-records.js';
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
  /** A batch of it was handled. */
  succeeded(): void;
}

export interface CycleOptions<Of extends Session> {
  log: EventLog;
  inputs: readonly TopicName[];
  metrics: ProcessingMetrics;
  logger: Logger;
  maxBytesPerBatch: number;
  /** Once one input is to be handled, what all have brought is handled. Otherwise only what inputs of the same topic have. */
  takesAll: boolean;
  eventsEveryMs: number;
  patienceMs(topic: TopicName): number;
  /** Tells the service that so many members begin a round, and that one of them has ended its part of it. */
  round?: { begin(members: readonly CycleMember<Of>[]): void; ended(member: CycleMember<Of>): void };
}

/**
 * Partitions with large batches in a round: while they wait for theirs the others grow, which saves writes of documents that
 * many records touch, and many at once would be more in memory than the collector can bear. Small batches all go along.
 */
const largeBatchesInRound = 2;
/** The part of an input's largest batch from which what a partition has brought is large. */
const largePart = 1 / 8;
/**
 * Milliseconds after which a round ends without the partitions that are still in hand. A busy machine takes a second for the
 * rounds of a steady load; rounds cut apart cost a transaction each.
 */
const longestRoundMs = 5_000;

export class ProcessCycle<Of extends Session> {
  /** With each member, how it is told that it has failed. */
  readonly #members = new Map<CycleMember<Of>, (error: Error) => void>();
  /** How far the records of what was gathered were looked at, and whether one of them is urgent. */
  readonly #looked = new WeakMap<Gathered, { records: number; isUrgent: boolean }>();
  readonly #pacer: InputPacer;
  readonly #topics = new Map<string, TopicName>();
  readonly #stopping = new AbortController();
  #opening: Promise<PartitionFeed> | undefined;
  #feed: PartitionFeed | undefined;
  #running: Promise<void> | undefined;
  #changed = new AbortController();
  /** What is being done for partitions: it may outlast the round in which it began. */
  readonly #inHand = new Map<number, Promise<void>>();
  #handledAt = performance.now();

  constructor(private readonly options: CycleOptions<Of>) {
    this.#pacer = new InputPacer(options);
    for (const topic of options.inputs) this.#topics.set(options.log[internals].wire(topic), topic);
  }

  /**
   * Feeds a partition until the signal is aborted, and then until the batch in hand is handled.
   * @throws the error with which it has failed
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
    try {
      feed.add(sources);
      await left;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#members.delete(member);
      feed.remove(partition);
      await this.#inHand.get(partition);
    }
  }

  /**
   * Something has moved on a partition: where it is in hand, so has everything that waits for the end of the round. What is in
   * hand itself does not wait.
   */
  moved(partition: number): void {
    if (!this.#inHand.has(partition)) return;
    for (const member of this.#members.keys()) if (!this.#inHand.has(member.partition)) member.touch();
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
    const { log, metrics, logger, maxBytesPerBatch } = this.options;
    const connection = log[internals].connect();
    try {
      await connection.open([...this.#topics.keys()]);
    } catch (error) {
      connection.close();
      throw error;
    }
    this.#feed = new PartitionFeed(connection, {
      maxBytesPerSource: maxBytesPerBatch,
      onArrival: () => this.#wake(),
      onAnswer: (partition) => this.#memberOf(partition)?.touch(),
      onFailure: (partition, error) => {
        const member = this.#memberOf(partition);
        if (member) this.#fail(member, asError(error));
      },
      onOffsetLost: ({ topic, partition }, wanted, earliest) => {
        const named = this.#topics.get(topic);
        if (named) lossTold({ logger, metrics, topic: named, partition })(wanted, earliest);
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
      const gathered = feed.gathered().filter(({ partition }) => !this.#inHand.has(partition));
      const now = performance.now();
      for (const { topic } of gathered) this.#pacer.came(this.#topicOf(topic), now);
      const inputs = gathered.map((one) => this.#inputOf(one));
      const due = this.#pacer.dueAt(inputs, now);
      // Nothing may be chosen although something is due: large batches wait for those that are in hand.
      const chosen = due <= now ? this.#chosen(gathered, inputs, now) : [];
      if (chosen.length > 0) await this.#handle(feed, chosen);
      else if (now - this.#handledAt >= idleMs) await this.#settle();
      else await pause(due > now ? Math.min(due - now, idleMs) : idleMs, this.#changed.signal);
    }
  }

  #topicOf(wire: string): TopicName {
    const topic = this.#topics.get(wire);
    if (topic === undefined) throw new Error(`${wire} is read by nobody here`);
    return topic;
  }

  #inputOf(gathered: Gathered): GatheredInput {
    const topic = this.#topicOf(gathered.topic);
    const isFull = gathered.bytes >= this.options.maxBytesPerBatch;
    const isBehind = isFull || gathered.nextOffset < gathered.stableEnd;
    return { topic, cameAt: gathered.cameAt, isBehind, isUrgent: this.#hasUrgent(topic, gathered) };
  }

  #hasUrgent(topic: TopicName, gathered: Gathered): boolean {
    const looked = this.#looked.get(gathered) ?? { records: 0, isUrgent: false };
    const { records } = gathered;
    for (; !looked.isUrgent && looked.records < records.length; looked.records += 1) {
      const record = records[looked.records];
      looked.isUrgent = record !== undefined && this.#isUrgent(topic, record);
    }
    this.#looked.set(gathered, looked);
    return looked.isUrgent;
  }

  #isUrgent(topic: TopicName, { headers }: RawRecord): boolean {
    if (headers['reply-to'] !== undefined) return true;
    const type = headers.type?.toString();
    const { schemas } = this.options.log[internals];
    return type === undefined || schemas.declarationOf(topic, type)?.mayWait !== true;
  }

  /** What is handled now: all that is due, or the longest waiting partitions of it where it is too much at once. */
  #chosen(gathered: readonly Gathered[], inputs: readonly GatheredInput[], now: number): readonly Gathered[] {
    const { takesAll, maxBytesPerBatch } = this.options;
    const candidates = takesAll ? gathered : this.#due(gathered, inputs, now);
    const waiting = new Map<number, { cameAt: number; bytes: number }>();
    for (const { partition, cameAt, bytes } of candidates) {
      const before = waiting.get(partition) ?? { cameAt, bytes: 0 };
      waiting.set(partition, { cameAt: Math.min(before.cameAt, cameAt), bytes: before.bytes + bytes });
    }
    // What has outlasted its round may be as large.
    let largeOnes = Math.min(this.#inHand.size, largeBatchesInRound);
    const partitions = new Set<number>();
    for (const [partition, { bytes }] of [...waiting].sort(([, a], [, b]) => a.cameAt - b.cameAt)) {
      const isLarge = bytes >= maxBytesPerBatch * largePart;
      if (isLarge && largeOnes === largeBatchesInRound) continue;
      if (isLarge) largeOnes += 1;
      partitions.add(partition);
    }
    return candidates.filter(({ partition }) => partitions.has(partition));
  }

  /** The records of the topics of which one partition's records are due. */
  #due(gathered: readonly Gathered[], inputs: readonly GatheredInput[], now: number): readonly Gathered[] {
    const due = new Set(
      inputs.filter((one) => this.#pacer.dueAt([one], now) <= now).map(({ topic }) => topic),
    );
    return gathered.filter(({ topic }) => due.has(this.#topicOf(topic)));
  }

  async #handle(feed: PartitionFeed, chosen: readonly Gathered[]): Promise<void> {
    const begun = performance.now();
    const topics = new Map<TopicName, { wasBehind: boolean }>();
    const batch = new Map<CycleMember<Of>, InputArrival[]>();
    for (const gathered of chosen) {
      feed.take(gathered);
      const topic = this.#topicOf(gathered.topic);
      const wasBehind = gathered.nextOffset < gathered.stableEnd || topics.get(topic)?.wasBehind === true;
      topics.set(topic, { wasBehind });
      this.#measure(topic, gathered, begun);
      const member = this.#memberOf(gathered.partition);
      if (!member) continue;
      const { records, nextOffset } = gathered;
      batch.set(member, [...(batch.get(member) ?? []), { topic, records, nextOffset }]);
    }
    await this.#inRound([...batch.keys()], async (member) => {
      await member.session.handle(batch.get(member) ?? []);
      member.succeeded();
    });
    this.#pacer.handled(topics, begun, this.#handledAt);
  }

  #measure(topic: TopicName, { partition, highWatermark, nextOffset, cameAt }: Gathered, now: number): void {
    const { metrics } = this.options;
    metrics.stage('wait', (now - cameAt) / 1_000);
    metrics.lag(topic, partition, Number(highWatermark - nextOffset));
  }

  /** While nothing comes, each session stores what it has kept in memory. */
  #settle(): Promise<void> {
    return this.#inRound(this.#idle(), async ({ session }) => session.settle?.(false));
  }

  #idle(): CycleMember<Of>[] {
    return [...this.#members.keys()].filter(({ partition }) => !this.#inHand.has(partition));
  }

  /**
   * Does the work for these members at the same time. One that fails leaves the others alone, and so does one that takes long:
   * the round ends without it.
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
      await this.#inHandOf(member, work);
      leave(member);
      if (inRound.size === 0) done.abort();
    });
    if (all.length > 0) await pause(longestRoundMs, done.signal);
    for (const member of inRound) leave(member);
    this.#handledAt = performance.now();
  }

  /** Never rejects: a member that fails is told. */
  #inHandOf(member: CycleMember<Of>, work: (member: CycleMember<Of>) => Promise<void>): Promise<void> {
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
        this.#inHand.delete(member.partition);
        this.#wake();
      });
    this.#inHand.set(member.partition, working);
    return working;
  }
}
