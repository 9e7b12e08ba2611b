// A read model of which nothing is written any more once its writer may have been replaced by another.
import type { Collection, Document } from 'mongodb';
import type { ReadModel } from './connection.js';
import type { WriteLease } from './write-lease.js';

const writes = new Set<PropertyKey>([
  'bulkWrite',
  'deleteMany',
  'deleteOne',
  'findOneAndDelete',
  'findOneAndReplace',
  'findOneAndUpdate',
  'insertMany',
  'insertOne',
  'replaceOne',
  'updateMany',
  'updateOne',
]);

/** The same read model, of which every write checks the lease in the synchronous turn in which it is called. */
export function underLease(readModel: ReadModel, lease: WriteLease): ReadModel {
  return {
    ...readModel,
    lease,
    collection: (declaration) => checked(readModel.collection(declaration), lease),
    patiently: (work) => {
      lease.check();
      return readModel.patiently(work);
    },
  };
}

function checked<Stored extends Document>(
  collection: Collection<Stored>,
  lease: WriteLease,
): Collection<Stored> {
  return new Proxy(collection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!writes.has(name)) return value.bind(target) as unknown;
      return async (...given: unknown[]): Promise<unknown> => {
        lease.check();
        return Reflect.apply(value, target, given) as Promise<unknown>;
      };
    },
  });
}
