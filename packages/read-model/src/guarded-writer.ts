// Writing documents that remember how far they have been folded: applying anything twice, or late, changes nothing.
import type { Collection, Document, Filter, OptionalUnlessRequiredId } from 'mongodb';
import type { CollectionDeclaration } from './collections.js';
import type { ReadModel } from './connection.js';
import { duplicatesOf, ReadModelError, withClassifiedErrors } from './errors.js';
import { keyOf } from './values.js';
import { strategyFor, type GuardedDocument, type WriteStrategy } from './write-strategies.js';

export interface GuardedWriteResult {
  inserted: number;
  replaced: number;
  /** Documents whose stored form was as new or newer already. */
  unchanged: number;
}

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
const parallelCalls = 2;
const maximumRounds = 6;

/** @param strategy how to replace; default the fastest exact one for the engine */
export function createGuardedWriter(
  readModel: Pick<ReadModel, 'engine'>,
  strategy: WriteStrategy = strategyFor(readModel.engine),
): GuardedWriter {
  return {
    write: (collection, documents, options = {}) =>
      withClassifiedErrors(() => write(strategy, collection, documents, options.isNew ?? (() => false))),
  };
}

async function write<Stored extends GuardedDocument>(
  strategy: WriteStrategy,
  collection: Collection<Stored>,
  documents: readonly Stored[],
  isNew: (document: Stored) => boolean,
): Promise<GuardedWriteResult> {
  const result: GuardedWriteResult = { inserted: 0, replaced: 0, unchanged: 0 };
  const wanted = newestOfEach(documents);
  let absent = wanted.filter(isNew);
  let present = wanted.filter((document) => !isNew(document));
  // Absent turns present when somebody else inserted first, present turns absent when nothing was found. Documents
  // are not deleted but by the partition's reset, so this settles in two rounds; the bound is for broken engines.
  for (let round = 1; absent.length + present.length > 0; round += 1) {
    if (round > maximumRounds)
      throw new ReadModelError(
        'write_not_settled',
        `${String(absent.length + present.length)} documents of ${collection.collectionName} were neither found nor inserted`,
        true,
      );
    const taken = await insertAll(collection, absent);
    result.inserted += absent.length - taken.length;
    const next = await replaceAll(strategy, collection, [...present, ...taken]);
    result.replaced += next.replaced;
    result.unchanged += next.unchanged;
    absent = next.absent;
    present = next.older;
  }
  return result;
}

/** @returns the documents whose id was taken */
async function insertAll<Stored extends GuardedDocument>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<Stored[]> {
  const taken = await inChunks(documents, insertChunk, (chunk) => insertChunkOf(collection, chunk));
  return taken.flat();
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

async function replaceAll<Stored extends GuardedDocument>(
  strategy: WriteStrategy,
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<{ replaced: number; unchanged: number; absent: Stored[]; older: Stored[] }> {
  const parts = await inChunks(documents, strategy.chunk, async (chunk) => {
    const replaced = await strategy.replace(collection, chunk);
    if (replaced === chunk.length) return { replaced, unchanged: 0, absent: [], older: [] };
    return { replaced, ...(await compare(collection, chunk, replaced)) };
  });
  return {
    replaced: parts.reduce((sum, part) => sum + part.replaced, 0),
    unchanged: parts.reduce((sum, part) => sum + part.unchanged, 0),
    absent: parts.flatMap((part) => part.absent),
    older: parts.flatMap((part) => part.older),
  };
}

/** Sorts out, after a replace that did not take all, what is stored: as new already, older still, or nothing. */
async function compare<Stored extends GuardedDocument>(
  collection: Collection<Stored>,
  chunk: readonly Stored[],
  replaced: number,
): Promise<{ unchanged: number; absent: Stored[]; older: Stored[] }> {
  const stored = await collection
    .find<{ _id: unknown; offset: number }>(
      { _id: { $in: chunk.map(({ _id }) => _id) } } as unknown as Filter<Stored>,
      {
        projection: { _id: 1, offset: 1 },
      },
    )
    .toArray();
  const offsets = new Map(stored.map(({ _id, offset }) => [keyOf(_id), offset]));
  const absent: Stored[] = [];
  const older: Stored[] = [];
  for (const document of chunk) {
    const offset = offsets.get(keyOf(document._id));
    if (offset === undefined) absent.push(document);
    else if (offset < document.offset) older.push(document);
  }
  return { unchanged: Math.max(0, chunk.length - absent.length - older.length - replaced), absent, older };
}

function newestOfEach<Stored extends GuardedDocument>(documents: readonly Stored[]): Stored[] {
  const newest = new Map<string, Stored>();
  for (const document of documents) {
    const key = keyOf(document._id);
    const known = newest.get(key);
    if (!known || known.offset <= document.offset) newest.set(key, document);
  }
  return [...newest.values()];
}

async function inChunks<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (chunk: readonly Item[]) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const from = next;
      next += size;
      results.push(await work(items.slice(from, from + size)));
    }
  };
  const lanes = Array.from({ length: Math.min(parallelCalls, Math.ceil(items.length / size)) }, lane);
  // All lanes are awaited, also when one fails: nothing may still be writing when the caller hears of the failure.
  const outcomes = await Promise.allSettled(lanes);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  return results;
}

/**
 * Inserts documents whose content follows from their id alone (recorded events, timeline entries): one that is
 * there already is left as it is.
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
 * Deletes all documents that a partition owns: the second half of a reset; the checkpoint goes first. May take
 * minutes for millions of documents.
 * @returns how many there were
 */
export async function deletePartition<Stored extends { partition: number }>(
  readModel: Pick<ReadModel, 'patiently'>,
  declaration: CollectionDeclaration<Stored>,
  partition: number,
): Promise<number> {
  return readModel.patiently(async (db) => {
    const result = await db.collection(declaration.name).deleteMany({ partition });
    return result.deletedCount;
  });
}
