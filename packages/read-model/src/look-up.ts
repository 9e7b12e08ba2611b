// Looks documents up by id: any number of ids, a bounded number in one call, coalesced with concurrent look-ups in the
// same collection.
import { BSON, type Collection, type Document, type Filter } from 'mongodb';
import { inChunks } from './chunks.js';
import { coalescedCall } from './coalesced-calls.js';
import { withClassifiedErrors } from './errors.js';
import { withoutLease } from './lease.js';
import { keyOf } from './values.js';

const lookUpChunk = 1_000;

/**
 * The stored documents with these ids, in no particular order. Without ids no call is made.
 * @throws ReadModelError
 */
export async function findByIds<Stored extends { _id: unknown }>(
  collection: Collection<Stored>,
  ids: readonly Stored['_id'][],
): Promise<Stored[]> {
  return (await lookUp(wholeDocuments, collection, ids)) as Stored[];
}

/**
 * The same with only the id and these fields of each document.
 * @throws ReadModelError
 */
export async function findFields<Stored extends { _id: unknown }, Field extends keyof Stored & string>(
  collection: Collection<Stored>,
  ids: readonly Stored['_id'][],
  fields: readonly Field[],
): Promise<Pick<Stored, '_id' | Field>[]> {
  const name = fields.join();
  let call = lookUpsOfFields.get(name);
  if (!call) {
    call = coalescedLookUp(Object.fromEntries(['_id', ...fields].map((field) => [field, 1])));
    lookUpsOfFields.set(name, call);
  }
  return (await lookUp(call, collection, ids)) as Pick<Stored, '_id' | Field>[];
}

/**
 * The ids of these that are stored, in no particular order. Without ids no call is made.
 * @throws ReadModelError
 */
export async function findStoredIds<Stored extends { _id: unknown }>(
  collection: Collection<Stored>,
  ids: readonly Stored['_id'][],
): Promise<Stored['_id'][]> {
  return (await findFields(collection, ids, [])).map(({ _id }) => _id);
}

type LookUp = ReturnType<typeof coalescedLookUp>;

const wholeDocuments = coalescedLookUp();
/** Look-ups by the joined names of their fields. */
const lookUpsOfFields = new Map<string, LookUp>();

function coalescedLookUp(projection?: Document) {
  return coalescedCall<unknown, Document[]>({
    maximumItems: lookUpChunk,
    send: async (collection, requests) => {
      const find = (ids: readonly unknown[]) =>
        collection.find(withIds(ids), projection ? { projection } : {}).toArray();
      const [only, ...further] = requests;
      return only && further.length === 0 ? [await find(only)] : findForAll(requests, find);
    },
  });
}

/** The documents of each request. A document of several requests is copied, so that each caller may change its own. */
async function findForAll(
  requests: readonly (readonly unknown[])[],
  find: (ids: readonly unknown[]) => Promise<Document[]>,
): Promise<Document[][]> {
  const wanted = new Map<string, { id: unknown; by: Set<number> }>();
  requests.forEach((ids, index) => {
    for (const id of ids) {
      const key = keyOf(id);
      const known = wanted.get(key);
      if (known) known.by.add(index);
      else wanted.set(key, { id, by: new Set([index]) });
    }
  });
  const results = requests.map((): Document[] => []);
  for (const document of await find([...wanted.values()].map(({ id }) => id))) {
    const [first = -1, ...others] = wanted.get(keyOf(document._id))?.by ?? [];
    for (const index of others) results[index]?.push(copyOf(document));
    results[first]?.push(document);
  }
  return results;
}

function copyOf(document: Document): Document {
  return BSON.deserialize(BSON.serialize(document));
}

async function lookUp<Stored extends Document>(
  call: LookUp,
  collection: Collection<Stored>,
  ids: readonly unknown[],
): Promise<Document[]> {
  // Reading needs no lease.
  const { collection: readable } = withoutLease(collection);
  const found = await withClassifiedErrors(() =>
    inChunks(ids, lookUpChunk, (chunk) => call(readable, chunk)),
  );
  return found.flat();
}

function withIds(ids: readonly unknown[]): Filter<Document> {
  return { _id: { $in: ids } } as Filter<Document>;
}
