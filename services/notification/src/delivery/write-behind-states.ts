// States of one kind under their ids, written behind: a state is unwritten in memory, then being written, then in a cache in
// front of the stored documents.
import {
  binaryToUuid,
  createStateCache,
  findByIds,
  uuidToBinary,
  type Binary,
  type Collection,
  type GuardedDocument,
  type StateCache,
} from '@lead-scoring/read-model';
import type { FoldedState } from './state.js';

export class WriteBehindStates<State extends object, Stored extends GuardedDocument & { _id: Binary }> {
  readonly #cache: StateCache<FoldedState<State>>;
  /** By id; only the newest state of each. */
  #unwritten = new Map<string, FoldedState<State>>();
  #beingWritten = new Map<string, FoldedState<State>>();

  constructor(
    private readonly collection: Collection<Stored>,
    private readonly toState: (document: Stored) => State,
    { maximumCached }: { maximumCached: number },
  ) {
    this.#cache = createStateCache({ maximumEntries: maximumCached });
  }

  /** null where nothing is known of an id. */
  async load(ids: Iterable<string>): Promise<Map<string, FoldedState<State> | null>> {
    const wanted = [...ids];
    const inMemory = new Map(wanted.map((id) => [id, this.#inMemory(id)]));
    const others = wanted.filter((id) => !inMemory.get(id));
    const loaded = await this.#cache.load(others, (missing) => this.#find(missing));
    for (const id of wanted) {
      // A state that was folded during the look-up is newer.
      const one = this.#inMemory(id) ?? inMemory.get(id);
      if (one) loaded.set(id, one);
    }
    return loaded;
  }

  #inMemory(id: string): FoldedState<State> | undefined {
    return this.#unwritten.get(id) ?? this.#beingWritten.get(id);
  }

  async #find(ids: readonly string[]): Promise<[string, FoldedState<State>][]> {
    const keys = ids.map(uuidToBinary) as Stored['_id'][];
    const found: readonly Stored[] = await findByIds<Stored>(this.collection, keys);
    return found.map((document) => [
      binaryToUuid(document._id),
      { value: this.toState(document), offset: document.offset },
    ]);
  }

  put(id: string, state: FoldedState<State>): void {
    this.#unwritten.set(id, state);
  }

  get unwritten(): ReadonlyMap<string, FoldedState<State>> {
    return this.#unwritten;
  }

  /** @returns the unwritten states, which count as being written until the write ends */
  beginWrite(): FoldedState<State>[] {
    this.#beingWritten = this.#unwritten;
    this.#unwritten = new Map();
    return [...this.#beingWritten.values()];
  }

  endWrite(): void {
    for (const [id, state] of this.#beingWritten) this.#cache.put(id, state);
    this.#beingWritten = new Map();
  }

  /** Nothing is stored under these ids any more. */
  remove(ids: Iterable<string>): void {
    for (const id of ids) this.#cache.put(id, null);
  }
}
