// The state of a partition in the live edition, and its copy in the edition that is being filled. Once the copy is level,
// each record is folded into the copy first and each store writes the copy first: the filled edition is then never behind
// the live one, so that the swap may come at any moment. docs/decisions/0028 describes it.
import { randomUUID } from 'node:crypto';
import type { TopicName } from '@lead-scoring/contracts';
import {
  pause,
  ReopenSession,
  type Checkpoint,
  type EventLog,
  type FoldedRecord,
  type ProcessorOptions,
  type SessionLease,
  type Touch,
} from '@lead-scoring/event-log';
import {
  partOf,
  underLease,
  type EditionedReadModel,
  type Editions,
  type FillingEdition,
  type ReadModel,
} from '@lead-scoring/read-model';
import { advance, endOf, FilledCopy, type TopicEnds } from './filled-copy.js';
import type { FoldedTopics, FoldingState } from './folding-state.js';

const longestPauseMs = 30_000;
const atOnce = AbortSignal.abort();

export interface EditionedStateOptions<State extends FoldingState> {
  /** The consumer group's name: of the service's processor, or of a projector. */
  reader: string;
  /** The version of the stored data that this process writes. It fills no edition of another version. */
  version: number;
  partition: number;
  topics: FoldedTopics;
  log: EventLog;
  readModel: EditionedReadModel;
  lease: SessionLease;
  logger: ProcessorOptions['logger'];
  /** Opens the state over the read model of one edition. */
  open(readModel: ReadModel): State;
}

export class EditionedState<State extends FoldingState> implements FoldingState {
  protected readonly live: State;
  readonly #editions: Editions;
  readonly #edition: number;
  /** For each topic, the offset behind the last record that the live state has folded or is folding. */
  readonly #liveEnds = new Map<TopicName, bigint>();
  readonly #closing = new AbortController();
  /** The copy that is level; null before. */
  #copy: FilledCopy<State> | null = null;
  /** The last stored checkpoint of the live state. */
  #stored: Checkpoint = { offset: 0n, positions: {} };
  /** The stores, one after the other; never rejects. */
  #storing: Promise<void> = Promise.resolve();
  #following: Promise<void> | undefined;

  /** Called before a partition is opened: it is opened in the edition that is live now. */
  protected static async prepare({
    readModel: { editions },
    version,
  }: Pick<EditionedStateOptions<never>, 'readModel' | 'version'>): Promise<void> {
    await editions.settled();
    await editions.look();
    if (version < editions.version())
      throw new Error(
        `the read models are of version ${String(editions.version())}, and this process writes version ${String(version)}: start the newer release`,
      );
  }

  protected constructor(private readonly options: EditionedStateOptions<State>) {
    this.#editions = options.readModel.editions;
    this.#edition = this.#editions.live();
    this.live = this.#open(this.#edition);
  }

  #open(edition: number): State {
    return this.options.open(underLease(this.#editions.view(edition), this.options.lease));
  }

  /** For each topic, folds begin at the earlier end of the live state and of a level copy; each of the two skips records that it has. */
  async checkpoint(): Promise<Checkpoint> {
    const { topics } = this.options;
    let from = (this.#stored = await this.live.checkpoint());
    for (const topic of topics.names) this.#liveEnds.set(topic, topics.endIn(from, topic));
    const copyEnds = await this.#openLevelCopy();
    for (const [topic, end] of copyEnds)
      if (end < topics.endIn(from, topic)) from = topics.withEnd(from, topic, end);
    return from;
  }

  /** A part that is level is opened with its copy: the swap may come while it is opened. */
  async #openLevelCopy(): Promise<TopicEnds> {
    const none: TopicEnds = new Map();
    const filling = this.#editions.filling();
    if (!filling) return none;
    const copy = this.#newCopy(filling.number);
    const isLevel = await this.#editions.claim(copy.owned);
    if (this.#editions.live() !== this.#edition)
      throw new ReopenSession('the live edition has changed while the partition was opened');
    const isFilledHere = filling.version === this.options.version;
    // A process of another version does not write the copy: the part is not level any more.
    if (isLevel && !isFilledHere) await this.#editions.withdraw(copy.owned);
    if (!isLevel || !isFilledHere) {
      await copy.close();
      return none;
    }
    this.#copy = copy;
    return copy.begin();
  }

  #newCopy(edition: number): FilledCopy<State> {
    const { reader, partition, topics, log, logger } = this.options;
    return new FilledCopy({
      state: this.#open(edition),
      owned: { edition, part: partOf(reader, partition), owner: randomUUID() },
      log,
      partition,
      topics,
      editions: this.#editions,
      signal: this.#closing.signal,
      logger,
    });
  }

  async fold(records: FoldedRecord[]): Promise<void> {
    const lacking = records.filter(({ topic, offset }) => offset >= endOf(this.#liveEnds, topic));
    // The ends advance before the first await: a copy that becomes level from here on has read these records from the log.
    advance(this.#liveEnds, records);
    const copy = this.#copy;
    if (copy) {
      await this.#storing;
      await this.#withCopy(copy, () => copy.fold(records));
    }
    if (lacking.length > 0) await this.live.fold(lacking);
  }

  store(checkpoint: Checkpoint, awaited: AbortSignal = atOnce): Promise<void> {
    const copy = this.#copy;
    const stored = copy
      ? this.#afterStores(async () => {
          await this.#withCopy(copy, () => copy.state.store(checkpoint, atOnce));
          await this.#storeLive(checkpoint, atOnce);
        })
      : this.#storeLive(checkpoint, awaited);
    this.#storing = stored.catch(() => undefined);
    return stored;
  }

  /** A copy stores all each time. */
  hasUnwritten(): boolean {
    return this.live.hasUnwritten?.() ?? false;
  }

  async #storeLive(checkpoint: Checkpoint, awaited: AbortSignal): Promise<void> {
    const { topics } = this.options;
    // After an opening, records are folded again for the copy. The live state has them already, and keeps its later checkpoint.
    if (topics.names.some((topic) => topics.endIn(checkpoint, topic) < topics.endIn(this.#stored, topic)))
      return;
    await this.live.store(checkpoint, awaited);
    this.#stored = checkpoint;
  }

  /** Resolves when the copy holds all that was folded. */
  async copyWritten(): Promise<void> {
    const copy = this.#copy;
    if (copy?.state.written)
      await this.#withCopy(copy, () => this.#afterStores(async () => copy.state.written?.()));
  }

  #afterStores(work: () => Promise<void>): Promise<void> {
    const done = this.#storing.then(work);
    this.#storing = done.catch(() => undefined);
    return done;
  }

  /** Works on the copy; a copy that fails is let go, and filled again from its checkpoint, unless it is live by now. */
  async #withCopy(copy: FilledCopy<State>, work: () => Promise<void>): Promise<void> {
    if (this.#copy !== copy) return;
    try {
      await work();
    } catch (error) {
      this.options.lease.check();
      if (!(await this.#editions.withdraw(copy.owned))) throw error;
      this.#logFailure(copy.owned.edition, error);
      await this.#letGo(copy);
    }
  }

  async #letGo(copy: FilledCopy<State>): Promise<void> {
    if (this.#copy === copy) this.#copy = null;
    await copy.close().catch(() => undefined);
  }

  /** Begins to look for an edition to fill, once the live state has folded the log. */
  protected follow(): void {
    this.#following ??= this.#follow();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !this.#isClosing();) {
      if (this.#endIfSuperseded()) return;
      await this.#letReplacedGo();
      const filling = this.#copy ? null : this.#fillable();
      try {
        if (filling) await this.#fill(filling.number);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (filling && !this.#isClosing()) this.#logFailure(filling.number, error);
      }
      await pause(Math.min(this.#editions.times.lookEveryMs * 2 ** failures, longestPauseMs), signal);
    }
  }

  /** The edition that this process may fill. */
  #fillable(): FillingEdition | null {
    const filling = this.#editions.filling();
    return filling?.version === this.options.version ? filling : null;
  }

  /** Lets go of a copy whose filling a newer version has replaced. */
  async #letReplacedGo(): Promise<void> {
    const edition = this.#copy?.owned.edition;
    if (!this.#copy || this.#editions.filling()?.number === edition || edition === this.#editions.known())
      return;
    await this.#letGo(this.#copy);
  }

  #isClosing(): boolean {
    return this.#closing.signal.aborted || this.options.lease.hasEnded();
  }

  /** Once readers in all processes have noticed the swap, the partition is opened again without the edition of before. */
  #endIfSuperseded(): boolean {
    const { times } = this.#editions;
    if (this.#editions.known() === this.#edition || this.#editions.sinceSwapMs() < times.writeBothMs)
      return false;
    this.options.lease.end(new ReopenSession('another edition of the read models is live'));
    return true;
  }

  async #fill(edition: number): Promise<void> {
    await this.#editions.ensure(edition);
    const copy = this.#newCopy(edition);
    try {
      await this.#editions.claim(copy.owned);
      await copy.begin();
      while (!copy.isLevelWith(this.#liveEnds)) await copy.catchUp(this.#liveEnds);
      this.#copy = copy;
      // Folds wait for this store, and no other store runs beside it: the copy is not behind the stored live state.
      await this.#afterStores(() => copy.state.store(this.#stored, atOnce));
      await this.#editions.level(copy.owned);
      this.options.logger.info(
        { edition, part: copy.owned.part },
        'the filled edition is level with the live one',
      );
    } catch (error) {
      await this.#letGo(copy);
      throw error;
    }
  }

  #logFailure(edition: number, error: unknown): void {
    this.options.logger.warn(
      { err: error, edition },
      'the filling of an edition has failed; it is tried again',
    );
  }

  /** Whether an edition is being filled, as of the last look. */
  isRebuilding(): boolean {
    return this.#editions.filling() !== null;
  }

  /** Drops the partition's documents, of the edition being filled as well. */
  async reset(touch: Touch): Promise<void> {
    await this.live.reset(touch);
    const filling = this.#editions.filling();
    if (!filling) return;
    const copy = this.#copy ?? this.#newCopy(filling.number);
    if (!this.#copy) await this.#editions.claim(copy.owned);
    await this.#editions.withdraw(copy.owned);
    await copy.begin();
    await copy.state.reset(touch);
    await this.#letGo(copy);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
    await this.#copy?.close().catch(() => undefined);
    await this.live.close?.();
  }
}
