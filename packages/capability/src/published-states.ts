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
  const keptVersion = (id: string) => {
    const state = kept.get(id);
    return state === undefined ? 0 : options.versionOf(state);
  };

  async function refresh(wanted: readonly string[]): Promise<void> {
    const found = await findFields(collection, wanted.map(uuidToBinary), ['version']);
    const changed = found.flatMap(({ _id, version }) => {
      const id = binaryToUuid(_id);
      return version > keptVersion(id) ? [id] : [];
    });
    for (const document of await findByIds(collection, changed.map(uuidToBinary))) {
      const id = binaryToUuid(document._id);
      // Another load may have brought a newer one in the meantime.
      if (document.version > keptVersion(id)) kept.set(id, options.toState(document));
    }
  }

  return {
    load: async (ids) => {
      const wanted = [...new Set(ids)];
      if (wanted.length > 0) await refresh(wanted);
      const loaded = new Map(wanted.map((id) => [id, kept.get(id) ?? options.initial(id)]));
      for (const [id, state] of loaded) kept.set(id, state);
      if (kept.size > maximumKept) for (const id of kept.keys()) if (!loaded.has(id)) kept.delete(id);
      return loaded;
    },
  };
}
