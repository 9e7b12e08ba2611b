// Looking documents up by their ids, however many: a bounded number in one call.
import type { Collection, Filter } from 'mongodb';
import { inChunks } from './chunks.js';
import { withClassifiedErrors } from './errors.js';

const lookUpChunk = 1_000;

/**
 * The documents with these ids that are stored, in no particular order. Without ids nothing is asked.
 * @throws ReadModelError
 */
export async function findByIds<Stored extends { _id: unknown }>(
  collection: Collection<Stored>,
  ids: readonly Stored['_id'][],
): Promise<Stored[]> {
  const found = await withClassifiedErrors(() =>
    inChunks(ids, lookUpChunk, (chunk) => collection.find<Stored>(withIds(chunk)).toArray()),
  );
  return found.flat();
}

/**
 * Those of the ids under which a document is stored, in no particular order. Without ids nothing is asked.
 * @throws ReadModelError
 */
export async function findStoredIds<Stored extends { _id: unknown }>(
  collection: Collection<Stored>,
  ids: readonly Stored['_id'][],
): Promise<Stored['_id'][]> {
  const found = await withClassifiedErrors(() =>
    inChunks(ids, lookUpChunk, (chunk) =>
      collection.find<Pick<Stored, '_id'>>(withIds(chunk), { projection: { _id: 1 } }).toArray(),
    ),
  );
  return found.flat().map(({ _id }) => _id);
}

function withIds<Stored>(ids: readonly unknown[]): Filter<Stored> {
  return { _id: { $in: ids } } as unknown as Filter<Stored>;
}
