// How the states of an aggregate are stored: the usual way, one document each, and what another way has to offer.
import {
  createGuardedWriter,
  findByIds,
  keyOf,
  type Binary,
  type Collection,
  type CollectionDeclaration,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { PartitionedCollection } from './capability.js';
import { publishDocuments, type PublishedDocument } from './published-states.js';

export interface StoredState<State> {
  readonly state: State;
  /** The offset of the last event that was folded into the state. */
  readonly offset: number;
}

export interface ChangedState<State, Event> extends StoredState<State> {
  readonly key: string;
  /** The events that have changed it, with their offsets. */
  readonly events: readonly { event: Event; offset: number }[];
}

export interface AggregateStorage<State, Event> {
  /** Dropped by a reset, in this order. */
  readonly collections: readonly PartitionedCollection[];
  readonly published?: readonly PartitionedCollection[];
  /** Whether an event is in a stored state already; default: by the offset of the state's last event. */
  isFolded?(stored: StoredState<State>, event: Event, offset: number): boolean;
  open(
    readModel: ReadModel,
    partition: number,
  ): {
    load(keys: readonly string[]): Promise<Map<string, StoredState<State>>>;
    /** Guarded: writing the same again, or something older, changes nothing. */
    write(changed: readonly ChangedState<State, Event>[]): Promise<void>;
  };
}

export interface DocumentForm<State, Stored extends GuardedDocument> {
  readonly collection: CollectionDeclaration<Stored>;
  /** The id of the document of a key. */
  idOf(key: string): Binary;
  toState(document: Stored): State;
  /** null where the state is not stored: it is as `initial` makes it. */
  toDocument(state: State, at: { partition: number; offset: number }): Stored | null;
  /** Where all partitions read the newest version of the state; see `createPublishedStates`. */
  readonly published?: CollectionDeclaration<PublishedDocument>;
}

/** One document for each state. */
export function storedAsDocuments<State, Stored extends GuardedDocument & { _id: Binary }>(
  form: DocumentForm<State, Stored>,
): AggregateStorage<State, unknown> {
  const { collection, published } = form;
  return {
    collections: [collection],
    ...(published && { published: [published] }),
    open: (readModel, partition) => {
      const stored = readModel.collection(collection);
      const writer = createGuardedWriter(readModel);
      return {
        load: (keys) => loadDocuments(stored, keys, form, partition),
        write: async (changed) => {
          const documents = changed.flatMap(
            ({ state, offset }) => form.toDocument(state, { partition, offset }) ?? [],
          );
          // Published first: after a crash in between, a stored document would keep its events from being folded again.
          if (published)
            await publishDocuments(readModel, published, documents as unknown as PublishedDocument[]);
          await writer.write(stored, documents);
        },
      };
    },
  };
}

async function loadDocuments<State, Stored extends GuardedDocument & { _id: Binary }>(
  stored: Collection<Stored>,
  keys: readonly string[],
  form: DocumentForm<State, Stored>,
  partition: number,
): Promise<Map<string, StoredState<State>>> {
  const byId = new Map(keys.map((key) => [keyOf(form.idOf(key)), key]));
  const found = await findByIds(stored, keys.map((key) => form.idOf(key)) as Stored['_id'][]);
  const states = new Map<string, StoredState<State>>();
  for (const document of found) {
    // A state has one writer: the state of another partition is neither decided on nor folded into here.
    if (document.partition !== partition) continue;
    const key = byId.get(keyOf(document._id));
    if (key !== undefined) states.set(key, { state: form.toState(document), offset: document.offset });
  }
  return states;
}
