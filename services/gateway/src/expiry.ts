// Collections whose documents the database deletes by itself.
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';

/** Documents of these collections go some time after their field `expires_at`. */
export async function ensureExpiry(readModel: ReadModel, names: readonly string[]): Promise<void> {
  for (const name of names)
    await withClassifiedErrors(() =>
      readModel.db.collection(name).createIndexes([{ key: { expires_at: 1 }, expireAfterSeconds: 0 }]),
    );
}
