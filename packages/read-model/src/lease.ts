// A read model whose writes are refused once its writer may have been replaced.
import type { Collection, Document } from 'mongodb';
import type { ReadModel } from './connection.js';
import { leasedOptions } from './leased-connection.js';
import type { WriteLease } from './write-lease.js';

/** The writing methods of a collection, with the index of the options among their arguments. */
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
 * The same read model with every write under the lease: it is checked synchronously in the call, and again right before
 * the bytes leave the process.
 */
export function underLease(readModel: ReadModel, lease: WriteLease): ReadModel {
  return {
    ...readModel,
    lease,
    collection: (declaration) => {
      const collection = readModel.collection(declaration);
      const leasedCollection = withLeaseChecks(collection, lease);
      leasedCollections.set(leasedCollection, { collection: collection as never, lease });
      return leasedCollection;
    },
    patiently: (work) => {
      lease.check();
      return readModel.patiently(work);
    },
  };
}

/**
 * A collection without its lease, and the lease: coalesced calls of several partition states use the collection itself.
 */
export interface CollectionWithLease<Stored extends Document> {
  collection: Collection<Stored>;
  lease: WriteLease | undefined;
}

const leasedCollections = new WeakMap<object, CollectionWithLease<Document>>();

export function withoutLease<Stored extends Document>(
  collection: Collection<Stored>,
): CollectionWithLease<Stored> {
  return (
    (leasedCollections.get(collection) as CollectionWithLease<Stored> | undefined) ?? {
      collection,
      lease: undefined,
    }
  );
}

/** The collection with a lease check in each write: in the call, and right before the bytes leave the process. */
export function withLeaseChecks<Stored extends Document>(
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
