// A partition's copy in the edition being filled. The copy decides nothing. It folds the log in bounded steps beside the live work,
// until it is level with the live state; from then on it folds the same records as the live state.
import type { TopicName } from '@lead-scoring/contracts';
import {
  pause,
  readToFold,
  type Checkpoint,
  type EventLog,
  type FoldedRecord,
  type ProcessorOptions,
} from '@lead-scoring/event-log';
import type { Editions, OwnedPart } from '@lead-scoring/read-model';
import type { FoldedTopics, FoldingState } from './folding-state.js';

/** The size of one fetch: a copy holds no more than this of the log in memory. */
const bytesPerStep = 1024 * 1024;
/** Milliseconds between two stores of the copy while it folds the log. */
const storeEveryMs = 1_000;
const atOnce = AbortSignal.abort();

/** The next offset of each topic to fold. */
export type TopicEnds = ReadonlyMap<TopicName, bigint>;

export interface FilledCopyOptions<State extends FoldingState> {
  state: State;
  owned: OwnedPart;
  log: EventLog;
  partition: number;
  topics: FoldedTopics;
  editions: Pick<Editions, 'inTurn'>;
  signal: AbortSignal;
  logger: ProcessorOptions['logger'];
}

export class FilledCopy<State extends FoldingState> {
  readonly #ends = new Map<TopicName, bigint>();
  #storedAt = performance.now();

  constructor(private readonly options: FilledCopyOptions<State>) {}

  get state(): State {
    return this.options.state;
  }

  get owned(): OwnedPart {
    return this.options.owned;
  }

  /** Takes the checkpoint over from the last owner. */
  async begin(): Promise<TopicEnds> {
    const { state, topics } = this.options;
    const checkpoint = await state.checkpoint();
    for (const topic of topics.names) this.#ends.set(topic, topics.endIn(checkpoint, topic));
    return this.#ends;
  }

  isLevelWith(live: TopicEnds): boolean {
    return this.options.topics.names.every((topic) => this.#endOf(topic) >= endOf(live, topic));
  }

  /** Folds from the log the records that the live state has folded. @param live the ends of the live state, which advance meanwhile */
  async catchUp(live: TopicEnds): Promise<void> {
    for (const topic of this.options.topics.names)
      if (this.#endOf(topic) < endOf(live, topic)) await this.#read(topic, live);
  }

  async #read(topic: TopicName, live: TopicEnds): Promise<void> {
    const { log, partition, topics, signal, logger, editions } = this.options;
    const isEnd = (offset: bigint) => offset >= endOf(live, topic);
    const steps = readToFold(
      log,
      { topic, partition, from: this.#endOf(topic) },
      { isOwn: topics.areOwn, isEnd, maxBytes: bytesPerStep, signal, logger },
    );
    for await (const { records, nextOffset } of steps) {
      signal.throwIfAborted();
      const begun = performance.now();
      await editions.inTurn(async () => {
        await this.#foldAll(records);
        this.#ends.set(topic, nextOffset);
        if (performance.now() - this.#storedAt >= storeEveryMs) await this.#store();
      });
      // Live work gets as much time as the steps take, until the copy is nearly level.
      if (!isEnd(nextOffset)) await pause(performance.now() - begun, signal);
    }
  }

  async #foldAll(records: readonly FoldedRecord[]): Promise<void> {
    const folded = records.filter((record) => this.options.topics.isFolded(record));
    if (folded.length > 0) await this.state.fold(folded);
  }

  /** Stores the ends of the folded topics. Positions of topics that the copy does not fold are stored only once the copy is level. */
  async #store(): Promise<void> {
    this.#storedAt = performance.now();
    const { topics } = this.options;
    let reached: Checkpoint = { offset: 0n, positions: {} };
    for (const [topic, end] of this.#ends) reached = topics.withEnd(reached, topic, end);
    await this.state.store(reached, atOnce);
  }

  /** Folds the records that the live state is about to fold, except those that the copy has read from the log. */
  async fold(records: readonly FoldedRecord[]): Promise<void> {
    await this.#foldAll(records.filter(({ topic, offset }) => offset >= this.#endOf(topic)));
    advance(this.#ends, records);
  }

  async close(): Promise<void> {
    await this.state.close?.();
  }

  #endOf(topic: TopicName): bigint {
    return endOf(this.#ends, topic);
  }
}

export function endOf(ends: TopicEnds, topic: TopicName): bigint {
  return ends.get(topic) ?? 0n;
}

/** Sets the ends of topics behind these records. */
export function advance(ends: Map<TopicName, bigint>, records: readonly FoldedRecord[]): void {
  for (const { topic, offset } of records) if (offset >= endOf(ends, topic)) ends.set(topic, offset + 1n);
}
