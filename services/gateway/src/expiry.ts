// Collections whose documents the database deletes by itself.
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';

/** Creates the indexes by which the database deletes documents of these collections some time after their `expires_at`. */
export async function ensureExpiry(readModel: ReadModel, names: readonly string[]): Promise<void> {
  for (const name of names)
    await withClassifiedErrors(() =>
      readModel.db.collection(name).createIndexes([{ key: { expires_at: 1 }, expireAfterSeconds: 0 }]),
    );
}
