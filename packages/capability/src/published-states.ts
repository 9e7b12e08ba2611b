// States that every partition needs, published by the one that owns them: the newest version of each, never an older one, also
// while its owner folds its events anew.
import {
  binaryToUuid,
  findByIds,
  findFields,
  isDuplicateKey,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type CollectionDeclaration,
  type ReadModel,
} from '@lead-scoring/read-model';

export interface PublishedDocument {
  _id: Binary;
  /** Grows with each change of the state. */
  version: number;
  content: string;
  partition: number;
}

/** Puts these in force, each unless a newer version is. */
export async function publishDocuments(
  readModel: ReadModel,
  declaration: CollectionDeclaration<PublishedDocument>,
  documents: readonly PublishedDocument[],
): Promise<void> {
  const collection = readModel.collection(declaration);
  for (const { _id, version, content, partition } of documents)
    await withClassifiedErrors(async () => {
      try {
        await collection.replaceOne(
          { _id, version: { $lte: version } },
          { version, content, partition },
          { upsert: true },
        );
      } catch (error) {
        // The id is there with a newer version, so the upsert tried to insert it again.
        if (!isDuplicateKey(error)) throw error;
      }
    });
}

/** Reads published states; one that has not changed costs a look at its version. */
export interface PublishedStates<State> {
  /**
   * @returns a state for each of the ids, the initial one where nothing was published; the same object while its version is
   *   the same
   */
  load(ids: Iterable<string>): Promise<Map<string, State>>;
}

export interface PublishedStatesOptions<State> {
  readonly collection: CollectionDeclaration<PublishedDocument>;
  toState(document: PublishedDocument): State;
  initial(id: string): State;
  versionOf(state: State): number;
  /** States kept in a process. Default 2,000. */
  readonly maximumKept?: number;
}

const defaultMaximumKept = 2_000;

/** One for a process: its partitions share what it keeps. Ids are UUIDs. */
export function createPublishedStates<State>(
  readModel: ReadModel,
  options: PublishedStatesOptions<State>,
): PublishedStates<State> {
  const { maximumKept = defaultMaximumKept } = options;
  const collection = readModel.collection(options.collection);
  const kept = new Map<string, State>();
  const newer = (known: State | undefined, other: State): State =>
    known !== undefined && options.versionOf(known) >= options.versionOf(other) ? known : other;

  /** @returns the newest states of those that are published */
  async function newest(wanted: readonly string[]): Promise<ReadonlyMap<string, State>> {
    const found = await findFields(collection, wanted.map(uuidToBinary), ['version']);
    // Another load may drop them from the kept ones before this one ends.
    const states = new Map<string, State>();
    const changed: Binary[] = [];
    for (const { _id, version } of found) {
      const id = binaryToUuid(_id);
      const known = kept.get(id);
      if (known !== undefined) states.set(id, known);
      if (known === undefined || version > options.versionOf(known)) changed.push(_id);
    }
    for (const document of await findByIds(collection, changed)) {
      const id = binaryToUuid(document._id);
      // Another load may have brought a newer one in the meantime.
      const state = newer(kept.get(id), options.toState(document));
      kept.set(id, state);
      states.set(id, state);
    }
    return states;
  }

  return {
    load: async (ids) => {
      const wanted = [...new Set(ids)];
      const states = await newest(wanted);
      const loaded = new Map<string, State>();
      for (const id of wanted) {
        const state = newer(kept.get(id), states.get(id) ?? options.initial(id));
        kept.set(id, state);
        loaded.set(id, state);
      }
      if (kept.size > maximumKept) for (const id of kept.keys()) if (!loaded.has(id)) kept.delete(id);
      return loaded;
    },
  };
}
