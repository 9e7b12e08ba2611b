// Coalesced writes: one call of the driver for several partition states, its documents in the same order for all
// writers.
import { type Collection, type Document, type Filter } from 'mongodb';
import { coalescedCall } from './coalesced-calls.js';
import { refusedInserts } from './errors.js';
import { alone } from './coalescer.js';
import type { GuardedDocument } from './guarded-settling.js';
import { inLockingOrder } from './values.js';
import type { WriteStrategy } from './write-strategies.js';

/** Maximum number of documents in one inserting or deleting call. */
export const writeChunk = 1_000;

const idOf = ({ _id }: Document): unknown => _id;

/** The documents of all requests in locking order, in which each request is already. */
function inCommonOrder<Stored extends Document>(requests: readonly (readonly Stored[])[]): readonly Stored[] {
  const [only, ...others] = requests;
  return only && others.length === 0 ? only : inLockingOrder(requests.flat());
}

const inserts = coalescedCall<Document, Document[]>({
  maximumItems: writeChunk,
  idOf,
  send: async (collection, requests) => {
    const documents = inCommonOrder(requests);
    try {
      await collection.insertMany(documents, { ordered: false, forceServerObjectId: true });
      return requests.map(() => []);
    } catch (error) {
      const refused = refusedInserts(error);
      if (!refused) throw error;
      const taken = new Set<unknown>();
      const faulty = new Set<unknown>();
      for (const { index, isTaken } of refused) (isTaken ? taken : faulty).add(documents[index]);
      if (requests.length === 1 && faulty.size > 0) throw error;
      return requests.map((own) =>
        own.some((document) => faulty.has(document)) ? alone : own.filter((document) => taken.has(document)),
      );
    }
  },
});

/** Inserts documents, which are in locking order. @returns the documents whose id was taken */
export async function insertCoalesced<Stored extends Document>(
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<Stored[]> {
  return (await inserts(collection, documents)) as Stored[];
}

const deletes = coalescedCall<unknown, true>({
  maximumItems: writeChunk,
  send: async (collection, requests) => {
    await collection.deleteMany({ _id: { $in: requests.flat() } } as Filter<Document>);
    return requests.map(() => true as const);
  },
});

/** Deletes the documents with these ids. */
export async function deleteCoalesced<Stored extends Document>(
  collection: Collection<Stored>,
  ids: readonly unknown[],
): Promise<void> {
  await deletes(collection, ids);
}

const replacesOf = new WeakMap<WriteStrategy, ReturnType<typeof coalescedReplaces>>();

function coalescedReplaces(strategy: WriteStrategy) {
  return coalescedCall<GuardedDocument, number>({
    maximumItems: strategy.chunk,
    idOf,
    send: async (collection, requests) => {
      const documents = inCommonOrder(requests);
      const replaced = await strategy.replace(
        collection as unknown as Collection<GuardedDocument>,
        documents,
      );
      if (requests.length === 1) return [replaced];
      // The server does not say which documents were not replaced, so each caller checks its own.
      return requests.map((own) => (replaced === documents.length ? own.length : 0));
    },
  });
}

/** @param documents in locking order @returns as `GuardedStore.replace` */
export function replaceCoalesced<Stored extends GuardedDocument>(
  strategy: WriteStrategy,
  collection: Collection<Stored>,
  documents: readonly Stored[],
): Promise<number> {
  let replaces = replacesOf.get(strategy);
  if (!replaces) replacesOf.set(strategy, (replaces = coalescedReplaces(strategy)));
  return replaces(collection, documents);
}
