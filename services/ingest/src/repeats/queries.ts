// Reads the numbers of repeats and of refused aliases of batches.
import { routes } from '@lead-scoring/contracts';
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { droppedRepeats, refusedAliases, repeatIdsOf } from './documents.js';

export function repeatQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(routes.getEventStats, async ({ query, context: { ouId } }) => {
      const batches = [...new Set(query.batch_id.toLowerCase().split(','))];
      const filter = { $or: batches.map((batchId) => ({ _id: repeatIdsOf(ouId, batchId) })) };
      const [found, refused] = await withClassifiedErrors(() =>
        Promise.all([
          readModel.collection(droppedRepeats).find(filter).toArray(),
          readModel.collection(refusedAliases).find(filter).toArray(),
        ]),
      );
      return {
        repeats: found.reduce((sum, { count }) => sum + count, 0),
        differing: found.reduce((sum, { differing = 0 }) => sum + differing, 0),
        aliases_refused: refused.reduce((sum, { count }) => sum + count, 0),
      };
    }),
  ];
}
