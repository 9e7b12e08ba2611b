// Creates the declared collections and indexes at start-up; several instances may do so concurrently.
import { setTimeout as delay } from 'node:timers/promises';
import type { IndexDirection } from 'mongodb';
import type { ReadModel } from './connection.js';
import { isDuplicateKey, isRetriable, withClassifiedErrors } from './errors.js';

/** Uses only names and keys, so that declarations of different document types fit in one list. */
export interface DeclaredCollection {
  name: string;
  indexes: readonly { key: object; unique?: boolean; sparse?: boolean }[];
  isLasting?: boolean;
}

/**
 * Creates the missing collections and indexes. Several instances may run it concurrently. Indexes that are no longer
 * declared are kept: dropping one is an operator's decision.
 */
export async function ensureCollections(
  readModel: ReadModel,
  declarations: readonly DeclaredCollection[],
): Promise<void> {
  const existing = new Set<string>();
  await withRetries(async () => {
    const found = await readModel.db.listCollections({}, { nameOnly: true }).toArray();
    for (const { name } of found) existing.add(name);
  });
  for (const declaration of declarations)
    await withRetries(() => ensureCollection(readModel, declaration, existing.has(declaration.name)));
}

async function ensureCollection(
  readModel: ReadModel,
  declaration: DeclaredCollection,
  exists: boolean,
): Promise<void> {
  if (!exists) await readModel.db.createCollection(declaration.name).catch(unlessItExists);
  if (declaration.indexes.length === 0) return;
  const collection = readModel.db.collection(declaration.name);
  const known = new Set((await collection.indexes()).map((index) => JSON.stringify(index.key)));
  const missing = declaration.indexes.filter((index) => !known.has(JSON.stringify(index.key)));
  if (missing.length === 0) return;
  await collection.createIndexes(
    missing.map((index) => ({
      key: index.key as Record<string, IndexDirection>,
      unique: index.unique ?? false,
      ...(index.sparse && { sparse: true }),
    })),
  );
}

const namespaceExists = 48;

function unlessItExists(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === namespaceExists)) throw error;
}

/**
 * Two instances that create the same index concurrently can conflict inside the engine; the retry finds the other's
 * index.
 */
async function withRetries(make: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await withClassifiedErrors(make);
      return;
    } catch (error) {
      if (attempt >= 5 || (isRetriable(error) && attempt >= 3) || isDuplicateKey(error)) throw error;
      await delay(50 * attempt);
    }
  }
}
