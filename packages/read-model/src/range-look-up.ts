// Finds documents in each of many ranges of ids, several ranges in one call.
import type { Collection, Document, Filter } from 'mongodb';
import { inChunks } from './chunks.js';
import { withClassifiedErrors } from './errors.js';
import { withoutLease } from './lease.js';

/** Fewer ranges in a call cost more calls; more ranges take the database longer to plan. FerretDB reads a whole collection for an $or of them. */
const rangesInCall = 10;

/** The driver's default would split a larger answer into several calls. */
const documentsInAnswer = 10_000;

/**
 * One stored document within each of these ranges of ids, with its id and these fields, in no particular order; a range without documents
 * has none. Without ranges no call is made.
 * @throws ReadModelError
 */
export function oneWithinEach<Stored extends Document, Field extends keyof Stored & string>(
  collection: Collection<Stored>,
  ranges: readonly object[],
  fields: readonly Field[],
): Promise<Pick<Stored, '_id' | Field>[]> {
  const one = [{ $limit: 1 }];
  return inUnions(
    collection,
    ranges.map((range) => [{ $match: { _id: range } }, ...one]),
    fields,
  );
}

/**
 * All stored documents that match one of these filters, each with a range of ids, with their ids and these fields, in no particular order.
 * Without filters no call is made.
 * @throws ReadModelError
 */
export function findWithinEach<Stored extends Document, Field extends keyof Stored & string>(
  collection: Collection<Stored>,
  filters: readonly Filter<Stored>[],
  fields: readonly Field[],
): Promise<Pick<Stored, '_id' | Field>[]> {
  return inUnions(
    collection,
    filters.map((filter) => [{ $match: filter }]),
    fields,
  );
}

async function inUnions<Stored extends Document, Field extends keyof Stored & string>(
  collection: Collection<Stored>,
  pipelines: readonly Document[][],
  fields: readonly Field[],
): Promise<Pick<Stored, '_id' | Field>[]> {
  const { collection: readable } = withoutLease(collection);
  const projected = { $project: Object.fromEntries(['_id', ...fields].map((field) => [field, 1])) };
  const find = ([first = [], ...further]: readonly Document[][]) => {
    const unions = further.map((pipeline) => ({
      $unionWith: { coll: readable.collectionName, pipeline: [...pipeline, projected] },
    }));
    return readable
      .aggregate<Pick<Stored, '_id' | Field>>([...first, projected, ...unions], {
        batchSize: documentsInAnswer,
      })
      .toArray();
  };
  return (await withClassifiedErrors(() => inChunks(pipelines, rangesInCall, find))).flat();
}
