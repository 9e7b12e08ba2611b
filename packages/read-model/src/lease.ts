// A read model of which nothing is written any more once its writer may have been replaced by another.
import type { Collection, Document } from 'mongodb';
import type { ReadModel } from './connection.js';
import { leasedOptions } from './leased-connection.js';
import type { WriteLease } from './write-lease.js';

/** The methods of a collection that write, and at which place among its arguments each takes its options. */
export const optionsAt: ReadonlyMap<PropertyKey, number> = new Map([
  ['bulkWrite', 1],
  ['deleteMany', 1],
  ['deleteOne', 1],
  ['findOneAndDelete', 1],
  ['findOneAndReplace', 2],
  ['findOneAndUpdate', 2],
  ['insertMany', 1],
  ['insertOne', 1],
  ['replaceOne', 2],
  ['updateMany', 2],
  ['updateOne', 2],
]);

/**
 * The same read model, of which every write checks the lease in the synchronous turn in which it is called, and once more when
 * its bytes are about to leave.
 */
export function underLease(readModel: ReadModel, lease: WriteLease): ReadModel {
  return {
    ...readModel,
    lease,
    collection: (declaration) => {
      const collection = readModel.collection(declaration);
      const underIt = checked(collection, lease);
      leased.set(underIt, { collection: collection as never, lease });
      return underIt;
    },
    patiently: (work) => {
      lease.check();
      return readModel.patiently(work);
    },
  };
}

/** A collection under a lease, apart: what is gathered from several partition states goes through the collection itself. */
export interface Unleased<Stored extends Document> {
  collection: Collection<Stored>;
  lease: WriteLease | undefined;
}

const leased = new WeakMap<object, Unleased<Document>>();

export function withoutLease<Stored extends Document>(collection: Collection<Stored>): Unleased<Stored> {
  return (leased.get(collection) as Unleased<Stored> | undefined) ?? { collection, lease: undefined };
}

/** The collection, of which every write asks the lease: when it is called, and when its bytes are about to leave. */
export function checked<Stored extends Document>(
  collection: Collection<Stored>,
  lease: Pick<WriteLease, 'check'>,
): Collection<Stored> {
  return new Proxy(collection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const place = optionsAt.get(name);
      if (place === undefined) return value.bind(target) as unknown;
      return async (...given: unknown[]): Promise<unknown> => {
        lease.check();
        given[place] = leasedOptions(given[place] as object | undefined, lease);
        return Reflect.apply(value, target, given) as Promise<unknown>;
      };
    },
  });
}
