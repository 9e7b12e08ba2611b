// Strategies to replace many documents in one call, each only when its stored offset is lower. They differ in cost
// alone.
import { type AnyBulkWriteOperation, type Collection, type Filter } from 'mongodb';
import type { Engine } from './connection.js';
import type { GuardedDocument } from './guarded-settling.js';

/**
 * Replaces each stored document by the one given with the same `_id` when the stored offset is lower; leaves the
 * others. Ids are unique within a call. The change of each document is atomic; the call as a whole is not.
 */
export interface WriteStrategy {
  readonly name: 'replace-each' | 'replace-set';
  /** Maximum number of documents in one call to the server. */
  readonly chunk: number;
  /** @returns as `GuardedStore.replace` */
  replace<Stored extends GuardedDocument>(
    collection: Collection<Stored>,
    documents: readonly Stored[],
  ): Promise<number>;
}

/** One replaceOne per document with the guard in its filter, many in one bulkWrite. */
export const replaceEach: WriteStrategy = {
  name: 'replace-each',
  chunk: 1_000,
  replace: async <Stored extends GuardedDocument>(
    collection: Collection<Stored>,
    documents: readonly Stored[],
  ) => {
    const operations = documents.map(
      ({ _id, ...replacement }) =>
        ({
          replaceOne: { filter: { _id, offset: { $lt: replacement.offset } }, replacement },
        }) as unknown as AnyBulkWriteOperation<Stored>,
    );
    const result = await collection.bulkWrite(operations, { ordered: false });
    return result.modifiedCount;
  },
};

/**
 * One updateMany for a set of documents: the pipeline finds each document's new content in an array by its id and takes
 * it if the stored offset is lower. `$literal` keeps all values literal, whatever characters they contain.
 */
export const replaceSet: WriteStrategy = {
  name: 'replace-set',
  chunk: 100,
  replace: async <Stored extends GuardedDocument>(
    collection: Collection<Stored>,
    documents: readonly Stored[],
  ) => {
    const ids = documents.map(({ _id }) => _id);
    const newest = documents.reduce((offset, document) => Math.max(offset, document.offset), -1);
    const filter = { _id: { $in: ids }, offset: { $lt: newest } } as unknown as Filter<Stored>;
    const result = await collection.updateMany(filter, [
      {
        $replaceWith: {
          $let: {
            vars: {
              next: {
                $arrayElemAt: [{ $literal: documents }, { $indexOfArray: [{ $literal: ids }, '$_id'] }],
              },
            },
            in: { $cond: [{ $lt: ['$offset', '$$next.offset'] }, '$$next', '$$ROOT'] },
          },
        },
      },
    ]);
    return result.modifiedCount;
  },
};

/** The fastest strategy that was exact in the README's measurements, by engine. */
export function strategyFor(engine: Engine): WriteStrategy {
  switch (engine) {
    case 'ferretdb':
      return replaceSet;
    case 'mongodb':
      return replaceEach;
  }
}
