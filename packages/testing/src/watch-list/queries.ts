// How many leads of an OU are watched: a sum of one small document for each partition.
import { uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { bindQuery, type BoundQuery } from '@lead-scoring/service';
import { z } from 'zod';
import { watchCounts } from './documents.js';

const watchCount = {
  name: 'watchCount',
  method: 'GET',
  path: '/watch-list/count',
  responses: { 200: { description: 'The count.', schema: z.strictObject({ watched: z.int() }) } },
} as const;

export function watchListQueries(readModel: ReadModel): BoundQuery[] {
  return [
    bindQuery(watchCount, async ({ context }) => {
      const found = await readModel
        .collection(watchCounts)
        .find({ ou: uuidToBinary(context.ouId) })
        .toArray();
      return { watched: found.reduce((sum, { watched }) => sum + watched, 0) };
    }),
  ];
}
