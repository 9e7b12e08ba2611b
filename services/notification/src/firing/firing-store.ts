// The firings and suppressions of one partition, and the states of its leads or of its accounts: folded in memory, written behind.
import type { RecordedEvent } from '@lead-scoring/contracts';
import type { FoldedRecord } from '@lead-scoring/event-log';
import {
  BufferedInserts,
  BufferedReplacements,
  BufferedStates,
  offsetToNumber,
  WriteBehind,
  type Binary,
  type CollectionDeclaration,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  firedEvents,
  suppressions,
  toFiredDocument,
  toSuppressionDocument,
  type FiredDocument,
  type StateDocument,
  type SuppressionDocument,
} from './documents.js';
import {
  foldFirings,
  type FoldedFirings,
  type FoldedSubject,
  type RecordedFiring,
  type SubjectFold,
  type SubjectState,
} from './firing-fold.js';
import { deleteForgotten, findForgettings, type Forgettings } from './forgetting.js';
import {
  cacheKeyOf,
  idsOfCacheKey,
  isFired,
  isForgetting,
  isSuppression,
  type SubjectDraft,
  type SubjectEvent,
  type SubjectIdentity,
  type SubjectIds,
} from './subject-model.js';

/** How the states of leads, or those of accounts, are folded and stored. */
export interface StoredSubjects<Event extends SubjectEvent, State extends SubjectState> extends SubjectFold<
  Event,
  State
> {
  readonly collection: CollectionDeclaration<StateDocument>;
  readonly eventOf: (record: RecordedEvent) => Event | null;
  /** The key of the document. */
  readonly keyOf: (subject: SubjectIds) => Binary;
  readonly pack: (state: State) => string;
  readonly unpack: (text: string, subject: SubjectIds) => State;
}

/** Number of unwritten firings, and of unwritten states, above which a fold waits. */
const maximumUnwritten = { firings: 2_000, states: 30_000 };
/**
 * Time over which a write of the states is spread while no caller waits for it, in milliseconds. A write at full speed would
 * slow down concurrent batches for several seconds.
 */
const spreadOverMs = 20_000;

export class FiringStore<Event extends SubjectEvent, State extends SubjectState> {
  readonly #fired: BufferedInserts<FiredDocument>;
  readonly #suppressions: BufferedReplacements<SuppressionDocument>;
  /** By cache key. The state of a lead changes with nearly every event, so one write covers many changes. */
  readonly #states: BufferedStates<FoldedSubject<State>, StateDocument>;
  /** Writes firings and suppressions with each fold, because queries show them. */
  readonly #shown: WriteBehind;
  /** Writes states, and before them the firings that are folded into them. */
  readonly #remembered: WriteBehind;

  /** @param maximumCached leads or accounts whose states stay in memory once they are stored */
  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
    private readonly subjects: StoredSubjects<Event, State>,
    { maximumCached }: { maximumCached: number },
  ) {
    this.#fired = new BufferedInserts(readModel, firedEvents);
    this.#suppressions = new BufferedReplacements(readModel, suppressions);
    this.#states = new BufferedStates(readModel, {
      collection: subjects.collection,
      idOf: (key) => subjects.keyOf(idsOfCacheKey(key)),
      toState: ({ content, offset }, key) => ({
        state: subjects.unpack(content, idsOfCacheKey(key)),
        offset,
      }),
      toDocument: ({ state, offset }, key) => ({
        _id: subjects.keyOf(idsOfCacheKey(key)),
        content: subjects.pack(state),
        partition,
        offset,
      }),
      maximumCached,
      spreadOverMs,
    });
    this.#shown = new WriteBehind([this.#fired, this.#suppressions], {
      maximumUnwritten: maximumUnwritten.firings,
    });
    this.#remembered = new WriteBehind([this.#shown, this.#states], {
      maximumUnwritten: maximumUnwritten.states,
    });
  }

  /** The states by cache key; null for a lead or an account without events of firing. */
  load(subjects: readonly SubjectIdentity[]): Promise<Map<string, FoldedSubject<State> | null>> {
    return this.#states.load(subjects.map(cacheKeyOf));
  }

  /**
   * Folds events; an event that was folded before changes nothing. Begins to write firings and suppressions, and deletes those
   * of forgotten leads or accounts.
   * @param decidedStates states that the decision has computed, by payload of the event
   * @throws the error of an earlier write
   */
  async fold(
    folded: readonly FoldedRecord[],
    decidedStates: ReadonlyMap<object, State> = new Map(),
  ): Promise<void> {
    const recorded = folded.flatMap((record): RecordedFiring<Event>[] => {
      const event = this.subjects.eventOf(record);
      return event ? [{ event, json: record.json, offset: offsetToNumber(record.offset) }] : [];
    });
    if (recorded.length === 0) return;
    await this.#shown.room();
    await this.#remembered.room();
    const before = await this.load(recorded.map(({ event }) => event.payload));
    const { changed, unfolded, forgotten } = foldFirings(recorded, before, this.subjects, decidedStates);
    await this.#show(unfolded, forgotten);
    for (const [key, subject] of changed) this.#states.put(key, subject);
  }

  async #show(
    unfolded: FoldedFirings<Event, State>['unfolded'],
    forgotten: FoldedFirings<Event, State>['forgotten'],
  ): Promise<void> {
    const { partition } = this;
    for (const { event, json, offset } of unfolded)
      if (isFired(event)) this.#fired.put(toFiredDocument(event.payload, json, partition));
      else if (isSuppression(event))
        this.#suppressions.put(toSuppressionDocument(event.payload, { partition, offset }));
    const written = this.#shown.write();
    if (forgotten.length === 0) return;
    await written;
    await deleteForgotten(this.readModel, forgotten);
  }

  /** The commands to forget the leads or accounts that these events forget. */
  async forgettingsOf(events: readonly SubjectDraft[]): Promise<Forgettings> {
    if (!events.some(isForgetting)) return new Map();
    // The stored firings are searched, so the firings in memory are written first.
    await this.#shown.written();
    return findForgettings(this.readModel, events);
  }

  /** Writes everything folded before this call; states are spread over time until `awaited` is aborted. */
  write(awaited: AbortSignal): Promise<void> {
    return this.#remembered.write(awaited);
  }

  /** Drops everything in memory, after a fold that has failed. */
  forget(): void {
    this.#remembered.forget();
  }

  async close(): Promise<void> {
    await this.#remembered.close();
    await this.#shown.close();
  }
}
