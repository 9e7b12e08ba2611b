// States of a partition's single writer, one document each: read through a cache, changed in memory, and written by the cycles
// of the write-behind with one guarded write per document.
import { setTimeout } from 'node:timers/promises';
import type { LRUCache } from 'lru-cache';
import { createBoundedCache } from './bounded-cache.js';
import type { CollectionDeclaration } from './collection-declaration.js';
import type { ReadModel } from './connection.js';
import { createGuardedWriter, deleteByIds, type GuardedWriter } from './guarded-writer.js';
import type { GuardedDocument } from './guarded-settling.js';
import { findByIds } from './look-up.js';
import { StatesAtRest } from './states-at-rest.js';
import { keyOf } from './values.js';
import type { TakenChanges, WriteBuffer } from './write-behind.js';

export interface BufferedStatesOptions<State extends object, Stored extends GuardedDocument> {
  readonly collection: CollectionDeclaration<Stored>;
  /** The id of a key's document. */
  idOf(key: string): Stored['_id'];
  toState(document: Stored, key: string): State;
  /** null: the state has no document. */
  toDocument(state: State, key: string): Stored | null;
  /** States that stay in memory once they are stored. Others do until then. */
  readonly maximumCached: number;
  /**
   * How many of these stay as objects, those that were used last; the others stay as JSON text (StatesAtRest). Such states are plain values
   * that are never changed in place. Default: all.
   */
  readonly cachedAsObjects?: number;
  /**
   * Whether folds change states in place, because copying them costs too much: a cycle then makes all documents when it
   * begins. Default false: a state that was put in is never changed.
   */
  readonly changesInPlace?: boolean;
  /** Spreads a cycle that nobody waits for over this time, in milliseconds. Default: written at once. */
  readonly spreadOverMs?: number;
}

/** A state in memory. The cache and the unwritten changes share the object. */
interface HeldState<State> {
  /** null: there is none. */
  state: State | null;
  /** No document was stored before the first unwritten change. */
  isNew: boolean;
}

/** States in one write. */
const statesPerWrite = 4_000;
/** The same for a cycle that is spread over time, so that it delays the batches that are decided meanwhile by little. */
const statesPerSpreadWrite = 200;

export class BufferedStates<State extends object, Stored extends GuardedDocument> implements WriteBuffer {
  readonly #collection;
  readonly #writer: GuardedWriter;
  readonly #cache: LRUCache<string, HeldState<State>>;
  /** The cached states beyond those that stay as objects. A state is in one of the two caches, never in both. */
  readonly #atRest: StatesAtRest<State> | null;
  #unwritten = new Map<string, HeldState<State>>();
  /** Taken by a cycle that is not stored yet. */
  #beingWritten: ReadonlyMap<string, HeldState<State>> = new Map();
  /** Grows with each change: what a load has read meanwhile may be older than what was evicted. */
  #changes = 0;

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly options: BufferedStatesOptions<State, Stored>,
  ) {
    this.#collection = readModel.collection(options.collection);
    this.#writer = createGuardedWriter(readModel);
    const maximumCached = Math.max(1, options.maximumCached);
    const asObjects = Math.min(options.cachedAsObjects ?? Infinity, maximumCached);
    const atRest = maximumCached > asObjects ? new StatesAtRest<State>(maximumCached - asObjects) : null;
    this.#atRest = atRest;
    this.#cache = createBoundedCache({
      maximumEntries: asObjects,
      ...(atRest && {
        onEvicted: ({ state }, key) => {
          atRest.put(key, state);
        },
      }),
    });
  }

  get size(): number {
    return this.#unwritten.size;
  }

  /** The states under these keys as they are with all changes; null where there is none. The result has all keys. */
  async load(keys: Iterable<string>): Promise<Map<string, State | null>> {
    const states = new Map<string, State | null>();
    const missing: string[] = [];
    for (const key of keys) {
      if (states.has(key)) continue;
      const held = this.#find(key);
      states.set(key, held ? held.state : null);
      if (!held) missing.push(key);
    }
    if (missing.length > 0) await this.#fetch(missing, states);
    return states;
  }

  /** Cached, or not stored yet. */
  #find(key: string): HeldState<State> | undefined {
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const resting = this.#atRest?.take(key);
    // The cache may have evicted a state that is not stored yet.
    let held = this.#unwritten.get(key) ?? this.#beingWritten.get(key);
    if (!held && resting !== undefined) held = { state: resting, isNew: false };
    if (held) this.#cache.set(key, held);
    return held;
  }

  async #fetch(missing: readonly string[], states: Map<string, State | null>): Promise<void> {
    const { options } = this;
    const changesBefore = this.#changes;
    const ids = missing.map((key) => options.idOf(key));
    const keys = new Map(ids.map((id, index) => [keyOf(id), missing[index]]));
    const found: readonly Stored[] = await findByIds<Stored>(this.#collection, ids);
    for (const document of found) {
      const key = keys.get(keyOf(document._id));
      if (key !== undefined) states.set(key, options.toState(document, key));
    }
    for (const key of missing) {
      // A state that was put in during the look-up is newer.
      const newer = this.#find(key);
      if (newer) states.set(key, newer.state);
      else if (changesBefore === this.#changes)
        this.#cache.set(key, { state: states.get(key) ?? null, isNew: false });
    }
  }

  /** The state of a key that is in memory: null when there is none, undefined when it is not in memory. */
  get(key: string): State | null | undefined {
    return this.#find(key)?.state;
  }

  /**
   * Changes a state; null: its document is to be deleted.
   * @param isNew of a key that the caller has not loaded: whether it probably has no document. A wrong guess costs a call.
   */
  put(key: string, state: State | null, { isNew = false } = {}): void {
    this.#changes += 1;
    this.#atRest?.delete(key);
    const unwritten = this.#unwritten.get(key);
    if (unwritten) {
      unwritten.state = state;
      return;
    }
    let held = this.#cache.get(key);
    if (!held || this.#beingWritten.get(key) === held) {
      held = { state, isNew: held ? held.state === null : isNew };
      this.#cache.set(key, held);
    } else {
      held.isNew = held.state === null;
      held.state = state;
    }
    this.#unwritten.set(key, held);
  }

  /** Notes that the caller has deleted a document, and that nothing of it is being written. */
  deleted(key: string): void {
    this.#changes += 1;
    this.#unwritten.delete(key);
    this.#atRest?.delete(key);
    this.#cache.set(key, { state: null, isNew: false });
  }

  take(): TakenChanges {
    const taken = this.#unwritten;
    this.#unwritten = new Map();
    this.#beingWritten = taken;
    const made = this.options.changesInPlace ? this.#documentsOf([...taken]) : null;
    return {
      write: (haste) => (made ? this.#store(made) : this.#writeTaken([...taken], haste)),
      stored: () => {
        if (this.#beingWritten === taken) this.#beingWritten = new Map();
      },
    };
  }

  forget(): void {
    this.#changes += 1;
    this.#cache.clear();
    this.#atRest?.clear();
    this.#unwritten = new Map();
    this.#beingWritten = new Map();
  }

  async #writeTaken(taken: readonly [string, HeldState<State>][], haste: AbortSignal): Promise<void> {
    const { spreadOverMs } = this.options;
    const perWrite = spreadOverMs === undefined ? statesPerWrite : statesPerSpreadWrite;
    const pauseMs = ((spreadOverMs ?? 0) * perWrite) / taken.length;
    for (let from = 0; from < taken.length; from += perWrite) {
      if (from > 0 && spreadOverMs !== undefined)
        await setTimeout(pauseMs, null, { signal: haste }).catch(() => null);
      await this.#store(this.#documentsOf(taken.slice(from, from + perWrite)));
    }
  }

  #documentsOf(taken: readonly [string, HeldState<State>][]): MadeDocuments<Stored> {
    const { options } = this;
    const made: MadeDocuments<Stored> = { documents: [], added: new Set(), gone: [] };
    for (const [key, { state, isNew }] of taken) {
      const document = state && options.toDocument(state, key);
      if (document) {
        made.documents.push(document);
        if (isNew) made.added.add(document);
      } else if (!state) made.gone.push(options.idOf(key));
    }
    return made;
  }

  async #store({ documents, added, gone }: MadeDocuments<Stored>): Promise<void> {
    await this.#writer.write(this.#collection, documents, { isNew: (document) => added.has(document) });
    if (gone.length > 0) await deleteByIds(this.#collection, gone);
  }
}

interface MadeDocuments<Stored extends GuardedDocument> {
  readonly documents: Stored[];
  /** Those that are not stored yet. */
  readonly added: Set<Stored>;
  /** Ids of documents to be deleted. */
  readonly gone: Stored['_id'][];
}
