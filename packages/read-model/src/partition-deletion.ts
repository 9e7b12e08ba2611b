// Deletes a partition's documents of a collection in bounded steps, so that no call to the database takes long.
import { MinKey, type Filter } from 'mongodb';
import type { CollectionDeclaration } from './collection-declaration.js';
import type { ReadModel } from './connection.js';
import { withClassifiedErrors } from './errors.js';

/** Documents of all partitions that one step scans. */
const documentsPerStep = 5_000;

/**
 * Deletes all documents that a partition owns: the second half of a reset, after the checkpoint. It scans the
 * collection in the order of ids, so that a step takes the same time for any size of the collection; millions of
 * documents take minutes.
 * @param touch called after each step to report progress
 * @returns the number of deleted documents
 * @throws ReadModelError; the same call may be repeated
 */
export async function deletePartition<Stored extends { partition: number }>(
  readModel: Pick<ReadModel, 'collection'>,
  declaration: CollectionDeclaration<Stored>,
  partition: number,
  touch: () => void,
  step = documentsPerStep,
): Promise<number> {
  const collection = readModel.collection(declaration);
  const within = (ids: object) => ({ _id: ids }) as Filter<Stored>;
  let deleted = 0;
  // Without a lower bound FerretDB sorts the whole collection to find the first ids.
  for (let from: object = { $gte: new MinKey() }; ;) {
    const { last, count } = await withClassifiedErrors(async () => {
      const [last] = await collection
        .find<{ _id: unknown }>(within(from), { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .skip(step - 1)
        .limit(1)
        .toArray();
      const ids = last === undefined ? from : { ...from, $lte: last._id };
      const { deletedCount } = await collection.deleteMany({ ...within(ids), partition });
      return { last, count: deletedCount };
    });
    deleted += count;
    touch();
    if (last === undefined) return deleted;
    from = { $gt: last._id };
  }
}
