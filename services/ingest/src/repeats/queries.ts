// How many events of batches were repeats.
import { routes } from '@lead-scoring/contracts';
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { droppedRepeats, repeatIdsOf } from './model.js';

export function repeatQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.getEventStats, async ({ query, context: { ouId } }) => {
      const batches = [...new Set(query.batch_id.toLowerCase().split(','))];
      const found = await withClassifiedErrors(() =>
        readModel
          .collection(droppedRepeats)
          .find({ $or: batches.map((batchId) => ({ _id: repeatIdsOf(ouId, batchId) })) })
          .toArray(),
      );
      return { repeats: found.reduce((sum, { count }) => sum + count, 0) };
    }),
  ];
}
