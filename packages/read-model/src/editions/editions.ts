// The editions of a service's read models, as one process knows them: it looks every second which one is live, and takes
// the steps of a rebuild.
import { setTimeout as delay } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import type { Logger } from 'pino';
import type { ReadModel } from '../connection.js';
import { isDuplicateKey, ReadModelError, withClassifiedErrors } from '../errors.js';
import { editionView, liveView } from './edition-view.js';
import type { DeclaredCollection } from '../collections.js';
import { dropEdition, ensureEdition } from './edition-collections.js';
import {
  claimed,
  dropped,
  editionCollection,
  firstEdition,
  levelled,
  requested,
  stated,
  withdrawn,
  type EditionStep,
  type FillingEdition,
  type FoldedParts,
  type OwnedPart,
  type StoredEditions,
} from './stored-editions.js';

/** Milliseconds. */
export interface EditionTimes {
  /** Between two looks at which edition is live. */
  lookEveryMs: number;
  /** Age of the last look from which reads are refused: a process that was suspended knows nothing of a swap. */
  maximumAgeMs: number;
  /** How long both editions are written after a swap was noticed; longer than `maximumAgeMs`. */
  writeBothMs: number;
  /** How long the collections of the edition before are kept after a swap was noticed; longer than any read. */
  keepMs: number;
}

const defaultTimes: EditionTimes = {
  lookEveryMs: 1_000,
  maximumAgeMs: 15_000,
  writeBothMs: 20_000,
  keepMs: 60_000,
};

/** How long a partition that is opened after a swap waits for readers in other processes to notice it. */
const noticedWithinMs = 2_000;
const maximumConflicts = 100;

export interface EditionsOptions {
  service: string;
  /** The readers that fold into editions: the service's processor and its projectors. */
  readers: readonly string[];
  /** What an edition consists of, besides the checkpoints of its readers; empty for a process' further read models. */
  collections: readonly DeclaredCollection[];
  logger: Logger;
  times?: Partial<EditionTimes> | undefined;
}

/** A read model of the live edition of a service. */
export interface EditionedReadModel extends ReadModel {
  readonly editions: Editions;
}

export class Editions {
  readonly times: EditionTimes;
  readonly #collection: Collection<StoredEditions>;
  readonly #readers: ReadonlySet<string>;
  readonly #views = new Map<number, ReadModel>();
  #known: StoredEditions;
  #lookedAt = -Infinity;
  /** When this process noticed that the live edition has changed; -Infinity for the first one that it has seen. */
  #noticedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  /** The running step of a filling: one at a time in a process, so that live work keeps its processor time. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly readModel: ReadModel,
    private readonly options: EditionsOptions,
  ) {
    this.times = { ...defaultTimes, ...options.times };
    this.#collection = readModel.collection(editionCollection);
    this.#readers = new Set(options.readers);
    this.#known = firstEdition(options.service);
  }

  /** Looks up the editions, and does so every second until `stop`. */
  static async open(readModel: ReadModel, options: EditionsOptions): Promise<Editions> {
    const editions = new Editions(readModel, options);
    await editions.look();
    // The owner of a partition of before may have written both editions until a moment ago.
    if (editions.#known.retired) editions.#noticedAt = performance.now();
    let isLooking = false;
    editions.#timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      editions
        .#followUp()
        .catch((error: unknown) => {
          options.logger.debug({ err: error }, 'the editions cannot be looked up');
        })
        .finally(() => {
          isLooking = false;
        });
    }, editions.times.lookEveryMs).unref();
    return editions;
  }

  /** The read model of the live edition, for readers. */
  following(): EditionedReadModel {
    return { ...liveView(() => this.view(this.live()), this.readModel), editions: this };
  }

  /** The read model of one edition, for its writers. */
  view(edition: number): ReadModel {
    const view = this.#views.get(edition) ?? editionView(this.readModel, edition, this.#readers);
    this.#views.set(edition, view);
    return view;
  }

  /** @throws ReadModelError when the last look is too long ago: the edition may be dropped by now */
  live(): number {
    if (performance.now() - this.#lookedAt > this.times.maximumAgeMs)
      throw new ReadModelError(
        'database_unavailable',
        'it is not known which edition of the read models is live: the database has not said so recently',
        true,
      );
    return this.#known.live;
  }

  /** The edition being filled, as of the last look. */
  filling(): FillingEdition | null {
    return this.#known.filling;
  }

  /** The live edition as of the last look, however long ago. */
  known(): number {
    return this.#known.live;
  }

  /** Milliseconds since this process has noticed the last swap. */
  sinceSwapMs(): number {
    return performance.now() - this.#noticedAt;
  }

  /** Resolves once readers in all processes have noticed the last swap. */
  async settled(): Promise<void> {
    const missing = this.#known.retired ? noticedWithinMs - this.sinceSwapMs() : 0;
    if (missing > 0) await delay(missing);
  }

  /** Looks up the editions now. */
  async look(): Promise<void> {
    const begun = performance.now();
    this.#take(await readEditions(this.readModel, this.options.service), begun);
  }

  /** Asks for a rebuild; a known one changes nothing. */
  async request(rebuildId: string, folded: FoldedParts): Promise<void> {
    await this.#change(requested(rebuildId, folded, now()));
  }

  /** States the version of this process; one that is newer than that of the live edition asks for a rebuild. */
  async state(folded: FoldedParts): Promise<void> {
    await this.#change(stated(folded, now()));
  }

  /** The version of the live edition, as of the last look. */
  version(): number {
    return this.#known.version ?? 0;
  }

  /** Takes a part of the edition being filled over from its last owner. @returns whether the part is level */
  async claim(owned: OwnedPart): Promise<boolean> {
    await this.#change(claimed(owned));
    const { filling } = this.#known;
    return filling?.number === owned.edition && filling.level.includes(owned.part);
  }

  /** A part is level with the live edition; the last one swaps the editions. */
  async level(owned: OwnedPart): Promise<void> {
    await this.#change(levelled(owned, now()));
  }

  /** @returns false when the part has another owner, or the edition is no longer being filled: it is the live one */
  async withdraw(owned: OwnedPart): Promise<boolean> {
    return this.#change(withdrawn(owned));
  }

  /** Creates the missing collections of an edition. */
  ensure(edition: number): Promise<void> {
    return ensureEdition(this.readModel, this.options.collections, edition);
  }

  /** Runs one step of a filling at a time in this process. */
  inTurn<Result>(step: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(step);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Looks up the editions, and drops the one that was live before once no reader can be on it. */
  async #followUp(): Promise<void> {
    await this.look();
    const { retired } = this.#known;
    if (!retired || this.sinceSwapMs() < this.times.keepMs || this.options.collections.length === 0) return;
    await dropEdition(this.readModel, this.options, retired.number);
    // Fillings that a newer version has replaced.
    for (let edition = retired.number + 1; edition < this.#known.live; edition += 1)
      await dropEdition(this.readModel, this.options, edition);
    await this.#change(dropped(retired.number, now()));
  }

  /** @returns whether the step has changed anything */
  async #change(step: EditionStep): Promise<boolean> {
    for (let attempt = 1; attempt <= maximumConflicts; attempt += 1) {
      const begun = performance.now();
      const before = await readEditions(this.readModel, this.options.service);
      const after = step(before);
      if (!after) {
        this.#take(before, begun);
        return false;
      }
      const next = { ...after, revision: before.revision + 1 };
      if (await this.#store(next)) {
        this.#take(next, performance.now());
        return true;
      }
      // Another partition was faster.
      await delay(Math.random() * 20);
    }
    throw new ReadModelError('write_not_settled', 'too many partitions change the editions at once', true);
  }

  async #store(next: StoredEditions): Promise<boolean> {
    const revision = next.revision - 1;
    return withClassifiedErrors(async () => {
      // Revision 0 is that of `firstEdition`, which is not stored.
      if (revision > 0) {
        const { _id, ...replacement } = next;
        const filter = { _id, revision };
        return (await this.#collection.replaceOne(filter, replacement)).matchedCount === 1;
      }
      try {
        await this.#collection.insertOne(next);
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return false;
      }
    });
  }

  /** @param lookedAt when the look began; an earlier one than the last changes nothing */
  #take(found: StoredEditions, lookedAt: number): void {
    if (lookedAt < this.#lookedAt) return;
    if (found.live !== this.#known.live && this.#lookedAt > -Infinity) {
      this.#noticedAt = performance.now();
      this.options.logger.info({ edition: found.live }, 'reads answer from a new edition of the read models');
    }
    this.#known = found;
    this.#lookedAt = lookedAt;
  }
}

function now(): string {
  return new Date().toISOString();
}

/** The editions of a service as stored, or as they are before the first change. */
export async function readEditions(
  readModel: Pick<ReadModel, 'collection'>,
  service: string,
): Promise<StoredEditions> {
  const found = await withClassifiedErrors(() =>
    readModel.collection(editionCollection).findOne({ _id: service }),
  );
  return found ?? firstEdition(service);
}
