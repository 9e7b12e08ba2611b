// What is stored beside the states of an aggregate because it follows from them: entries of a list, an index.
import {
  deleteByIds,
  inLockingOrder,
  insertMissing,
  withClassifiedErrors,
  type Binary,
  type CollectionDeclaration,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { AggregateStorage, ChangedState } from './aggregate-storage.js';
import type { PartitionedCollection } from './capability.js';

export interface WrittenBeside<State, Event> {
  readonly collections: readonly PartitionedCollection[];
  /** Writing the same again changes nothing. */
  write(
    readModel: ReadModel,
    partition: number,
    changed: readonly ChangedState<State, Event>[],
  ): Promise<void>;
}

/**
 * States with what is written beside them, which is written first: an event is not folded again once its state is stored, so
 * what came after the state would be missing after a crash in between.
 */
export function storedWith<State, Event>(
  storage: AggregateStorage<State, Event>,
  besides: readonly WrittenBeside<State, Event>[],
): AggregateStorage<State, Event> {
  return {
    ...storage,
    collections: [...besides.flatMap(({ collections }) => collections), ...storage.collections],
    open: (readModel, partition) => {
      const states = storage.open(readModel, partition);
      return {
        load: (keys) => states.load(keys),
        write: async (changed) => {
          for (const beside of besides) await beside.write(readModel, partition, changed);
          await states.write(changed);
        },
      };
    },
  };
}

export interface UnfinishedDocument {
  _id: Binary;
  partition: number;
}

/** An index of the states that ask for work: all that a new owner of a partition has to look through. */
export interface UnfinishedIndex<State> extends WrittenBeside<State, unknown> {
  /** The ids of a partition's unfinished states. */
  find(readModel: ReadModel, partition: number): Promise<Binary[]>;
}

export function unfinishedIndex<State>(form: {
  readonly collection: CollectionDeclaration<UnfinishedDocument>;
  /** The id of the entry of a key. */
  idOf(key: string): Binary;
  isUnfinished(state: State): boolean;
}): UnfinishedIndex<State> {
  const { collection } = form;
  return {
    collections: [collection],
    write: async (readModel, partition, changed) => {
      const entries = readModel.collection(collection);
      const idsOf = (unfinished: boolean) =>
        changed
          .filter(({ state }) => form.isUnfinished(state) === unfinished)
          .map(({ key }) => form.idOf(key));
      await insertMissing(entries, inLockingOrder(idsOf(true).map((_id) => ({ _id, partition }))));
      await deleteByIds(entries, idsOf(false));
    },
    find: async (readModel, partition) => {
      const entries = readModel.collection(collection);
      const found = await withClassifiedErrors(() => entries.find({ partition }).toArray());
      return found.map(({ _id }) => _id);
    },
  };
}
