// For tests of folds: a read model whose writes fail after a number of successful ones, as if the process were killed there.
import type { Collection, Document, ReadModel } from '@lead-scoring/read-model';

const writes = new Set<PropertyKey>([
  'bulkWrite',
  'deleteMany',
  'deleteOne',
  'insertMany',
  'insertOne',
  'replaceOne',
  'updateMany',
  'updateOne',
]);

/** The read model of a process that is killed at a write. */
export interface CrashingReadModel extends ReadModel {
  /**
   * Kills the process unless it was killed before. Resolves when the database has answered the writes that were under way: the
   * next owner of the partition opens after that, because nothing of its predecessor may be written later.
   */
  ended(): Promise<void>;
}

/** @param after the number of writes that succeed */
export function crashing(readModel: ReadModel, after: number): CrashingReadModel {
  let left = after;
  const underWay = new Set<Promise<unknown>>();
  const write = (send: () => unknown): Promise<unknown> => {
    left -= 1;
    if (left < 0) return Promise.reject(new Error('killed at a write'));
    const answer = Promise.resolve(send());
    underWay.add(answer);
    const forget = () => underWay.delete(answer);
    answer.then(forget, forget);
    return answer;
  };
  return {
    ...readModel,
    collection: (declaration) => throughWrites(readModel.collection(declaration), write),
    ended: async () => {
      left = 0;
      await Promise.allSettled(underWay);
    },
  };
}

function throughWrites<Stored extends Document>(
  collection: Collection<Stored>,
  write: (send: () => unknown) => Promise<unknown>,
): Collection<Stored> {
  return new Proxy(collection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(value, target, given);
        return writes.has(name) ? write(call) : call();
      };
    },
  });
}
