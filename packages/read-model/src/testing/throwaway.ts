// A separate database for each test file on the server in MONGODB_URI, dropped afterwards.
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import {
  connectReadModel,
  databaseName,
  type ReadModel,
  type ReadModelConfiguration,
} from '../connection.js';

export const silent = pino({ level: 'silent' });

export function mongodbUri(): string {
  const uri = process.env.MONGODB_URI;
  if (uri === undefined || uri === '') throw new Error('set MONGODB_URI to the MongoDB that tests may use');
  return uri;
}

export async function throwawayReadModel(
  options: Partial<ReadModelConfiguration> = {},
): Promise<{ readModel: ReadModel; database: string; drop: () => Promise<void> }> {
  const database = databaseName(`test-${randomBytes(6).toString('hex')}`, 'read-model');
  const readModel = await connectReadModel({ uri: mongodbUri(), database, ...options }, { logger: silent });
  return {
    readModel,
    database,
    drop: async () => {
      await readModel.patiently((db) => db.dropDatabase());
      await readModel.close();
    },
  };
}
