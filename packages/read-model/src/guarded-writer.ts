// Writing documents that remember how far they have been folded: applying anything twice, or late, changes nothing.
import type { Collection, Document, Filter } from 'mongodb';
import { inChunks } from './chunks.js';
import { deleteGathered, insertGathered, replaceGathered, writeChunk } from './gathered-writes.js';
import type { ReadModel } from './connection.js';
import { withClassifiedErrors } from './errors.js';
import {
  settle,
  type GuardedDocument,
  type GuardedStore,
  type GuardedWriteResult,
} from './guarded-settling.js';
import { findFields } from './look-up.js';
import { keyOf } from './values.js';
import { strategyFor, type WriteStrategy } from './write-strategies.js';

export interface GuardedWriteOptions<Stored> {
  /**
   * True for documents that the writer knows to be new, by its cache or load. Only a hint about cost: a wrong
   * answer either way costs a call more and changes nothing in the result.
   */
  isNew?: (document: Stored) => boolean;
}

export interface GuardedWriter {
  /**
   * Brings every document to at least the given offset: inserts it when absent, replaces it when the stored
   * offset is lower, leaves it otherwise. When it returns, all of that is acknowledged. When it throws, any part
   * may have happened, and the same call again is right.
   * Of several documents with one id, the one with the highest offset counts.
   * @throws ReadModelError
   */
  write<Stored extends GuardedDocument>(
    collection: Collection<Stored>,
    documents: readonly Stored[],
    options?: GuardedWriteOptions<Stored>,
  ): Promise<GuardedWriteResult>;
}

/** @param strategy how to replace; default the fastest exact one for the engine */
export function createGuardedWriter(
  readModel: Pick<ReadModel, 'engine'>,
  strategy: WriteStrategy = strategyFor(readModel.engine),
): GuardedWriter {
  return {
    write: (collection, documents, options = {}) =>
      withClassifiedErrors(() =>
        settle(storeOf(strategy, collection), documents, options.isNew ?? (() => false)),
      ),
  };
}

function storeOf<Stored extends GuardedDocument>(
  strategy: WriteStrategy,
  collection: Collection<Stored>,
): GuardedStore<Stored> {
  return {
    insert: async (documents) => {
      const taken = await inChunks(documents, writeChunk, (chunk) => insertGathered(collection, chunk));
      return taken.flat();
    },
    replace: async (documents) => {
      const replaced = await inChunks(documents, strategy.chunk, (chunk) =>
        replaceGathered(strategy, collection, chunk),
      );
      return replaced.reduce((sum, count) => sum + count, 0);
    },
    offsets: async (documents) => {
      const ids = documents.map(({ _id }) => _id);
      const found = await findFields(collection, ids, ['offset']);
      return new Map(found.map(({ _id, offset }) => [keyOf(_id), offset]));
    },
  };
}

/**
 * Inserts documents whose content follows from their id alone (recorded events, timeline entries): one that is
 * there already is left as it is.
 * @param documents in one order for all writers: that of the log, or `inLockingOrder`
 * @returns how many were not there before
 * @throws ReadModelError; the same call again is right
 */
export async function insertMissing<Stored extends Document>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<number> {
  return withClassifiedErrors(async () => {
    const taken = await inChunks(documents, writeChunk, (chunk) => insertGathered(collection, chunk));
    return documents.length - taken.reduce((sum, chunk) => sum + chunk.length, 0);
  });
}

/**
 * Deletes the documents with these ids; what is not there is not missed.
 * @throws ReadModelError; the same call again is right
 */
export async function deleteByIds<Stored extends Document>(
  collection: Collection<Stored>,
  ids: readonly Stored['_id'][],
): Promise<void> {
  await withClassifiedErrors(() => inChunks(ids, writeChunk, (chunk) => deleteGathered(collection, chunk)));
}

/**
 * Deletes all documents that a filter finds, a bounded number at a time: however many there are, no call takes long.
 * @throws ReadModelError; the same call again is right
 */
export async function deleteFound<Stored extends Document>(
  collection: Collection<Stored>,
  filter: Filter<Stored>,
): Promise<void> {
  for (;;) {
    const found = await withClassifiedErrors(() =>
      collection
        .find(filter, { projection: { _id: 1 }, limit: writeChunk })
        .map(({ _id }) => _id as Stored['_id'])
        .toArray(),
    );
    await deleteByIds(collection, found);
    if (found.length < writeChunk) return;
  }
}
