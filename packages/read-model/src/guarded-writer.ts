// Writing documents that remember how far they have been folded: applying anything twice, or late, changes nothing.
import type { Collection, Document, Filter, OptionalUnlessRequiredId } from 'mongodb';
import { inChunks } from './chunks.js';
import type { ReadModel } from './connection.js';
import { duplicatesOf, withClassifiedErrors } from './errors.js';
import {
  settle,
  type GuardedDocument,
  type GuardedStore,
  type GuardedWriteResult,
} from './guarded-settling.js';
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

const insertChunk = 1_000;

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
      const taken = await inChunks(documents, insertChunk, (chunk) => insertChunkOf(collection, chunk));
      return taken.flat();
    },
    replace: async (documents) => {
      const replaced = await inChunks(documents, strategy.chunk, (chunk) =>
        strategy.replace(collection, chunk),
      );
      return replaced.reduce((sum, count) => sum + count, 0);
    },
    offsets: async (documents) => {
      const found = await inChunks(documents, insertChunk, (chunk) => {
        const filter = { _id: { $in: chunk.map(({ _id }) => _id) } } as unknown as Filter<Stored>;
        return collection.find<GuardedDocument>(filter, { projection: { _id: 1, offset: 1 } }).toArray();
      });
      return new Map(found.flat().map(({ _id, offset }) => [keyOf(_id), offset]));
    },
  };
}

async function insertChunkOf<Stored extends Document>(
  collection: Collection<Stored>,
  chunk: readonly Stored[],
): Promise<Stored[]> {
  try {
    await collection.insertMany(chunk as unknown as OptionalUnlessRequiredId<Stored>[], {
      ordered: false,
      forceServerObjectId: true,
    });
    return [];
  } catch (error) {
    const duplicates = duplicatesOf(error);
    if (!duplicates) throw error;
    const taken = new Set(duplicates);
    return chunk.filter((_, index) => taken.has(index));
  }
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
    const taken = await inChunks(documents, insertChunk, (chunk) => insertChunkOf(collection, chunk));
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
  await withClassifiedErrors(() =>
    inChunks(ids, insertChunk, (chunk) => {
      const filter = { _id: { $in: chunk } } as unknown as Filter<Stored>;
      return collection.deleteMany(filter);
    }),
  );
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
        .find(filter, { projection: { _id: 1 }, limit: insertChunk })
        .map(({ _id }) => _id as Stored['_id'])
        .toArray(),
    );
    await deleteByIds(collection, found);
    if (found.length < insertChunk) return;
  }
}
