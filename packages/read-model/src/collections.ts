// Makes what is declared at start-up, also when several instances do it at once.
import type { IndexDirection } from 'mongodb';
import type { ReadModel } from './connection.js';
import { isDuplicateKey, isRetriable, withClassifiedErrors } from './errors.js';

/** Only names and keys are used here, so declarations of any document types go together. */
export interface DeclaredCollection {
  name: string;
  indexes: readonly { key: object; unique?: boolean }[];
}

/**
 * Makes the collections and indexes that are missing. Safe when several instances do it at once; indexes that are
 * no longer declared are left alone (dropping one is an operator's decision).
 */
export async function ensureCollections(
  readModel: ReadModel,
  declarations: readonly DeclaredCollection[],
): Promise<void> {
  for (const declaration of declarations) await withRetries(() => ensureCollection(readModel, declaration));
}

async function ensureCollection(readModel: ReadModel, declaration: DeclaredCollection): Promise<void> {
  const existing = await readModel.db
    .listCollections({ name: declaration.name }, { nameOnly: true })
    .toArray();
  if (existing.length === 0) await readModel.db.createCollection(declaration.name).catch(unlessItExists);
  if (declaration.indexes.length === 0) return;
  const collection = readModel.db.collection(declaration.name);
  const known = new Set((await collection.indexes()).map((index) => JSON.stringify(index.key)));
  const missing = declaration.indexes.filter((index) => !known.has(JSON.stringify(index.key)));
  if (missing.length === 0) return;
  await collection.createIndexes(
    missing.map((index) => ({
      key: index.key as Record<string, IndexDirection>,
      unique: index.unique ?? false,
    })),
  );
}

const namespaceExists = 48;

function unlessItExists(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === namespaceExists)) throw error;
}

/** Two instances that make the same index at once can collide inside the engine; what the other made is then found. */
async function withRetries(make: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await withClassifiedErrors(make);
      return;
    } catch (error) {
      if (attempt >= 5 || (isRetriable(error) && attempt >= 3) || isDuplicateKey(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50 * attempt));
    }
  }
}
