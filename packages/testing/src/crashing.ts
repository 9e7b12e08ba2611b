// For tests of folds: a read model whose writes fail after a number of successful ones, as if the process were killed there.
import type { Collection, Document, ReadModel } from '@lead-scoring/read-model';

const writes = new Set<PropertyKey>(['insertMany', 'bulkWrite', 'replaceOne', 'updateMany', 'deleteMany']);

/** @param after the number of writes that succeed */
export function crashing(readModel: ReadModel, after: number): ReadModel {
  let left = after;
  return {
    ...readModel,
    collection: (declaration) => dying(readModel.collection(declaration), () => (left -= 1) < 0),
  };
}

function dying<Stored extends Document>(
  collection: Collection<Stored>,
  isDead: () => boolean,
): Collection<Stored> {
  return new Proxy(collection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown =>
        writes.has(name) && isDead()
          ? Promise.reject(new Error('killed at a write'))
          : Reflect.apply(value, target, given);
    },
  });
}
