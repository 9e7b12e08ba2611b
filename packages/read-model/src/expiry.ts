// Collections whose documents the database deletes by itself.
import type { ReadModel } from './connection.js';
import { withClassifiedErrors } from './errors.js';

/** Creates the indexes by which the database deletes documents of these collections some time after their `expires_at`. */
export async function ensureExpiry(
  readModel: Pick<ReadModel, 'db'>,
  collections: readonly { readonly name: string }[],
): Promise<void> {
  for (const { name } of collections)
    await withClassifiedErrors(() =>
      readModel.db.collection(name).createIndexes([{ key: { expires_at: 1 }, expireAfterSeconds: 0 }]),
    );
}
