// The law of folds, on a real database: the documents do not depend on the cut of the log into batches, nor on the write at which
// the process is killed.
import { randomUUID } from 'node:crypto';
import {
  connectReadModel,
  databaseName,
  ensureCollections,
  type DeclaredCollection,
  type ReadModel,
} from '@lead-scoring/read-model';
import { createLogger } from '@lead-scoring/service';
import fc from 'fast-check';
import { crashing } from './crashing.js';
import { endpointsFromEnvironment } from './servers.js';

export { crashing } from './crashing.js';
export { foldedRecord } from './folded-record.js';

export interface FoldStep {
  /** The number of records to fold in this step. */
  size: number;
  /** The number of writes after which the process is killed; it is killed at the end of its step at the latest. */
  killedAfter: number;
  /** Whether the checkpoint is stored; otherwise the next step folds the same records again. */
  isStored: boolean;
}

/** A step of at most so many records, which may be killed at one of so many writes. */
export function anyStep(maximumSize: number, maximumWrites: number): fc.Arbitrary<FoldStep> {
  return fc.record({
    size: fc.integer({ min: 1, max: maximumSize }),
    killedAfter: fc.oneof(fc.integer({ min: 0, max: maximumWrites }), fc.constant(Infinity)),
    isStored: fc.boolean(),
  });
}

interface FoldingState<Folded> {
  fold: (records: Folded[]) => Promise<void>;
  /** Writes the documents that are in memory until the checkpoint is stored; folding goes on meanwhile. */
  write?: (awaited: AbortSignal) => Promise<void>;
}

/** Steps of one record each, without a kill. */
export function oneByOne(log: readonly unknown[]): FoldStep[] {
  return log.map(() => ({ size: 1, killedAfter: Infinity, isStored: true }));
}

/** Folds the log in the given steps, and the remaining records in one more; returns every document. */
export async function foldedInSteps<Folded>({
  collections,
  log,
  steps,
  open,
}: {
  collections: readonly DeclaredCollection[];
  log: readonly Folded[];
  steps: readonly FoldStep[];
  /** Opens the state to fold into; called for each step. */
  open: (readModel: ReadModel) => Promise<FoldingState<Folded>> | FoldingState<Folded>;
}): Promise<Record<string, unknown[]>> {
  return inThrowawayReadModel(collections, async (readModel) => {
    let [from, to] = [0, 0];
    for (const { size, killedAfter, isStored } of steps) {
      to = Math.min(log.length, to + size);
      const process = crashing(readModel, killedAfter);
      const fold = async () => {
        const state = await open(process);
        const middle = Math.ceil((from + to) / 2);
        await state.fold(log.slice(from, middle));
        const written = state.write?.(AbortSignal.abort());
        written?.catch(() => undefined);
        if (middle < to) await state.fold(log.slice(middle, to));
        await written;
        if (isStored) await state.write?.(AbortSignal.abort());
      };
      const isFolded = await fold().then(
        () => true,
        () => false,
      );
      await process.ended();
      if (isFolded && isStored) from = to;
    }
    const state = await open(readModel);
    await state.fold(log.slice(from));
    await state.write?.(AbortSignal.abort());
    return documentsOf(readModel, collections);
  });
}

/** A read model with a database of its own, which is dropped afterwards. */
export async function inThrowawayReadModel<Result>(
  collections: readonly DeclaredCollection[],
  work: (readModel: ReadModel) => Promise<Result>,
): Promise<Result> {
  const readModel = await connectReadModel(
    {
      uri: endpointsFromEnvironment().mongodbUri,
      database: databaseName(`test-${randomUUID().slice(0, 8)}`, 'folds'),
    },
    { logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  try {
    await ensureCollections(readModel, collections);
    return await work(readModel);
  } finally {
    await readModel.patiently((db) => db.dropDatabase());
    await readModel.close();
  }
}

async function documentsOf(
  readModel: ReadModel,
  collections: readonly DeclaredCollection[],
): Promise<Record<string, unknown[]>> {
  const documents: Record<string, unknown[]> = {};
  for (const { name } of collections) {
    const found = await readModel.db.collection(name).find().sort({ _id: 1 }).toArray();
    documents[name] = JSON.parse(JSON.stringify(found)) as unknown[];
  }
  return documents;
}
