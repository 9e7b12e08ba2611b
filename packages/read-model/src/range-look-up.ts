// Finds a document in each of many ranges of ids, several ranges in one call.
import type { Binary, Collection } from 'mongodb';
import { inChunks } from './chunks.js';
import { withClassifiedErrors } from './errors.js';
import { withoutLease } from './lease.js';
import type { KeyRange } from './ordered-keys.js';

/** Fewer ranges in a call cost more calls; more ranges take the database longer to plan. FerretDB reads a whole collection for an $or of them. */
const rangesInCall = 10;

/**
 * The id of one stored document within each of these ranges, in no particular order; a range without documents has none. Without ranges
 * no call is made.
 * @throws ReadModelError
 */
export async function oneIdWithinEach<Stored extends { _id: Binary }>(
  collection: Collection<Stored>,
  ranges: readonly KeyRange[],
): Promise<Binary[]> {
  const { collection: readable } = withoutLease(collection);
  const find = ([first, ...further]: readonly KeyRange[]) => {
    const unions = further.map((range) => ({
      $unionWith: { coll: readable.collectionName, pipeline: oneWithin(range) },
    }));
    return readable.aggregate<{ _id: Binary }>([...oneWithin(first), ...unions]).toArray();
  };
  const found = await withClassifiedErrors(() => inChunks(ranges, rangesInCall, find));
  return found.flat().map(({ _id }) => _id);
}

function oneWithin(range: KeyRange | undefined) {
  return [{ $match: { _id: range } }, { $limit: 1 }, { $project: { _id: 1 } }];
}
