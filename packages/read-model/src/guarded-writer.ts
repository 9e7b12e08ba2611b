// Guarded writes: each document stores the offset up to which it is folded, so a repeated or late write changes
// nothing.
import type { Collection, Document, Filter } from 'mongodb';
import { inChunks } from './chunks.js';
import { deleteCoalesced, insertCoalesced, replaceCoalesced, writeChunk } from './coalesced-writes.js';
import type { ReadModel } from './connection.js';
import { withClassifiedErrors } from './errors.js';
import {
  settle,
  type GuardedDocument,
  type GuardedStore,
  type GuardedWriteResult,
} from './guarded-settling.js';
import { findFields } from './look-up.js';
import { inLockingOrder, keyOf } from './values.js';
import { strategyFor, type WriteStrategy } from './write-strategies.js';

export interface GuardedWriteOptions<Stored> {
  /**
   * True for documents that the writer knows to be new from its cache or load. Only a hint: a wrong answer costs one
   * more call and does not change the result.
   */
  isNew?: (document: Stored) => boolean;
}

export interface GuardedWriter {
  /**
   * Brings every document to at least the given offset: inserts it when absent, replaces it when the stored offset is
   * lower, leaves it otherwise. When it resolves, the database has acknowledged everything. When it throws, any part
   * may have been written, and the same call may be repeated. Of several documents with one id, the one with the
   * highest offset counts.
   * @throws ReadModelError
   */
  write<Stored extends GuardedDocument>(
    collection: Collection<Stored>,
    documents: readonly Stored[],
    options?: GuardedWriteOptions<Stored>,
  ): Promise<GuardedWriteResult>;
}

/** @param strategy the way to replace documents; default: the fastest exact one for the engine */
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
      const taken = await inChunks(documents, writeChunk, (chunk) => insertCoalesced(collection, chunk));
      return taken.flat();
    },
    replace: async (documents) => {
      const replaced = await inChunks(documents, strategy.chunk, (chunk) =>
        replaceCoalesced(strategy, collection, chunk),
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
 * Inserts documents whose content depends on their id alone (recorded events, timeline entries); existing ones are
 * unchanged.
 * @param documents in the same order for all writers: that of the log, or `inLockingOrder`
 * @returns the number of inserted documents
 * @throws ReadModelError; the same call may be repeated
 */
export async function insertMissing<Stored extends Document>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<number> {
  return withClassifiedErrors(async () => {
    const taken = await inChunks(documents, writeChunk, (chunk) =>
      insertCoalesced(collection, inLockingOrder(chunk)),
    );
    return documents.length - taken.reduce((sum, chunk) => sum + chunk.length, 0);
  });
}

/**
 * Deletes the documents with these ids; absent ones are ignored.
 * @throws ReadModelError; the same call may be repeated
 */
export async function deleteByIds<Stored extends Document>(
  collection: Collection<Stored>,
  ids: readonly Stored['_id'][],
): Promise<void> {
  await withClassifiedErrors(() => inChunks(ids, writeChunk, (chunk) => deleteCoalesced(collection, chunk)));
}

/**
 * Deletes all documents that match a filter, a bounded number in a call, so that no call takes long.
 * @throws ReadModelError; the same call may be repeated
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

/** Filters in one call of `deleteMatching`. */
const filtersInOneCall = 25;

/**
 * Deletes all documents that match any of some filters, many filters in a call: a call for each costs four times as much.
 * @param filters each matches few documents
 * @throws ReadModelError; the same call may be repeated
 */
export async function deleteMatching<Stored extends Document>(
  collection: Collection<Stored>,
  filters: readonly Filter<Stored>[],
): Promise<void> {
  await withClassifiedErrors(() =>
    inChunks(filters, filtersInOneCall, (chunk) =>
      collection.bulkWrite(
        chunk.map((filter) => ({ deleteMany: { filter } })),
        { ordered: false },
      ),
    ),
  );
}
