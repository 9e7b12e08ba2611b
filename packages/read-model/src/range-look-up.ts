// Finds a document in each of many ranges of ids, several ranges in one call.
import type { Collection, Document } from 'mongodb';
import { inChunks } from './chunks.js';
import { withClassifiedErrors } from './errors.js';
import { withoutLease } from './lease.js';

/** Fewer ranges in a call cost more calls; more ranges take the database longer to plan. FerretDB reads a whole collection for an $or of them. */
const rangesInCall = 10;

/**
 * One stored document within each of these ranges of ids, with its id and these fields, in no particular order; a range without documents
 * has none. Without ranges no call is made.
 * @throws ReadModelError
 */
export async function oneWithinEach<Stored extends Document, Field extends keyof Stored & string>(
  collection: Collection<Stored>,
  ranges: readonly object[],
  fields: readonly Field[],
): Promise<Pick<Stored, '_id' | Field>[]> {
  const { collection: readable } = withoutLease(collection);
  const projection = Object.fromEntries(['_id', ...fields].map((field) => [field, 1]));
  const oneWithin = (range: object | undefined) => [
    { $match: { _id: range } },
    { $limit: 1 },
    { $project: projection },
  ];
  const find = ([first, ...further]: readonly object[]) => {
    const unions = further.map((range) => ({
      $unionWith: { coll: readable.collectionName, pipeline: oneWithin(range) },
    }));
    return readable.aggregate<Pick<Stored, '_id' | Field>>([...oneWithin(first), ...unions]).toArray();
  };
  return (await withClassifiedErrors(() => inChunks(ranges, rangesInCall, find))).flat();
}
