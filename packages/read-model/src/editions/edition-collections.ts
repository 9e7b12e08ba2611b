// The collections of an edition: created before it is filled, and dropped after it was live.
import { ensureCollections, type DeclaredCollection } from '../collections.js';
import { checkpointCollection } from '../checkpoint-documents.js';
import type { ReadModel } from '../connection.js';
import { withClassifiedErrors } from '../errors.js';
import { nameInEdition } from './stored-editions.js';

/** Creates the missing collections and indexes of an edition, and the lasting ones. */
export async function ensureEdition(
  readModel: ReadModel,
  collections: readonly DeclaredCollection[],
  edition: number,
): Promise<void> {
  await ensureCollections(
    readModel,
    collections.map((one) => (one.isLasting ? one : { ...one, name: nameInEdition(one.name, edition) })),
  );
}

/** Drops an edition, one collection at a time, with the checkpoints of its readers. May be repeated. */
export async function dropEdition(
  readModel: ReadModel,
  { collections, readers }: { collections: readonly DeclaredCollection[]; readers: readonly string[] },
  edition: number,
): Promise<void> {
  for (const { name, isLasting } of collections)
    if (!isLasting)
      await readModel.patiently((db) => db.dropCollection(nameInEdition(name, edition)).catch(unlessMissing));
  const names = readers.map((reader) => nameInEdition(reader, edition));
  await withClassifiedErrors(() =>
    readModel.collection(checkpointCollection).deleteMany({ name: { $in: names } }),
  );
}

const namespaceNotFound = 26;

function unlessMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === namespaceNotFound)) throw error;
}
