// A new database on the server that MONGODB_URI names, dropped after the test.
import { randomUUID } from 'node:crypto';
import { connectReadModel, databaseName, ensureCollections, type ReadModel } from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import { accountExplanationCollections } from '../projection.js';

export async function inThrowawayReadModel<Result>(
  work: (readModel: ReadModel) => Promise<Result>,
): Promise<Result> {
  const readModel = await connectReadModel(
    {
      uri: process.env.MONGODB_URI ?? '',
      database: databaseName(`explanations-${randomUUID().slice(0, 8)}`, 'share'),
    },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  try {
    await ensureCollections(readModel, accountExplanationCollections);
    return await work(readModel);
  } finally {
    await readModel.patiently((db) => db.dropDatabase());
    await readModel.close();
  }
}
