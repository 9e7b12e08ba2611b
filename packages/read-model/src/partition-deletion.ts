// Deleting what a partition owns of a collection: however much that is, no call to the database takes long.
import { MinKey, type Filter } from 'mongodb';
import type { CollectionDeclaration } from './collection-declaration.js';
import type { ReadModel } from './connection.js';
import { withClassifiedErrors } from './errors.js';

/** Documents of all partitions that one step passes over. */
const documentsPerStep = 5_000;

/**
 * Deletes all documents that a partition owns: the second half of a reset; the checkpoint goes first. It goes through the
 * collection in order of ids, so that a step takes as long whatever the collection holds; millions of documents take minutes.
 * @param touch called after each step, to say that it moves
 * @returns how many there were
 * @throws ReadModelError; the same call again is right
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
  // Without a bound, FerretDB sorts the whole collection to find its first ids.
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
