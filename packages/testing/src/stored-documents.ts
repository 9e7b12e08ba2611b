// Every document of every collection of a service's database, with all fields, in a form in which two states can be compared. Of the
// editions, the live one.
import { serviceNames } from '@lead-scoring/contracts';
import type { PlatformEndpoints } from '@lead-scoring/platform';
import { nameInEdition, type StoredEditions } from '@lead-scoring/read-model';
import { BSON, MongoClient, type Collection, type Db, type Document } from 'mongodb';

/** By the declared name of the collection, then by `_id` as text: each document as BSON. */
export type StoredDocuments = Map<string, Map<string, Uint8Array>>;

/** @param except collections to leave out */
export async function storedDocuments(
  endpoints: PlatformEndpoints,
  database: string,
  { except = [] }: { except?: readonly string[] } = {},
): Promise<StoredDocuments> {
  const client = await MongoClient.connect(endpoints.mongodbUri);
  try {
    const db = client.db(database);
    const stored: StoredDocuments = new Map();
    for (const { name, storedAs } of await liveCollections(db)) {
      if (except.includes(name)) continue;
      const documents = new Map<string, Uint8Array>();
      for await (const document of db.collection(storedAs).find({}, { batchSize: 5_000, raw: true })) {
        const bytes = document as unknown as Uint8Array;
        // Copied, because the raw documents of a batch share one buffer.
        documents.set(canonical(BSON.deserialize(bytes)['_id']), Uint8Array.from(bytes));
      }
      stored.set(name, documents);
    }
    return stored;
  } finally {
    await client.close();
  }
}

/** Collections that differ after any restart: checkpoints, and the gateway's documents about requests. */
export const notOfTheLog: readonly string[] = [
  'checkpoints',
  'credential_last_uses',
  'rate_limit_buckets',
  'call_counts',
  'quota_uses',
  'idempotent_answers',
];

/**
 * The documents of every service, by the service's name.
 * @param except collections to leave out
 */
export async function documentsOfServices(
  { endpoints, namespace }: { endpoints: PlatformEndpoints; namespace: string },
  except: readonly string[],
): Promise<Map<string, StoredDocuments>> {
  const found = new Map<string, StoredDocuments>();
  for (const service of serviceNames)
    found.set(service, await storedDocuments(endpoints, `${namespace}_${service}`, { except }));
  return found;
}

/** A collection of the live edition of the service that the database belongs to. */
export async function liveCollection<Stored extends Document>(
  db: Db,
  name: string,
): Promise<Collection<Stored>> {
  return db.collection<Stored>(nameInEdition(name, await liveEdition(db)));
}

/** The number of the edition that reads of a service answer from. */
export async function liveEdition(db: Db): Promise<number> {
  const { live = 0 } = (await db.collection<StoredEditions>('editions').findOne()) ?? {};
  return live;
}

/** The collections of the live edition, and those that every edition has in common. */
async function liveCollections(db: Db): Promise<{ name: string; storedAs: string }[]> {
  const live = await liveEdition(db);
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  const names = new Set(found.map(({ name }) => name));
  return [...names]
    .filter((name) => !name.startsWith('system.') && name !== 'editions' && !/\.e\d+$/.test(name))
    .map((name) => {
      const inEdition = nameInEdition(name, live);
      return { name, storedAs: names.has(inEdition) ? inEdition : name };
    })
    .concat(
      // The first edition is dropped: no collection has the declared name itself.
      [...names].flatMap((storedAs) => {
        const name = storedAs.replace(/\.e\d+$/, '');
        return storedAs === nameInEdition(name, live) && !names.has(name) ? [{ name, storedAs }] : [];
      }),
    );
}

/** The number of documents in a collection. */
export function countOf(stored: StoredDocuments, collection: string): number {
  return stored.get(collection)?.size ?? 0;
}

/**
 * Describes the differences between two states, at most a few for each collection; empty if they are equal. Only the order of
 * a document's fields is ignored.
 */
export function differences(before: StoredDocuments, after: StoredDocuments): string[] {
  const found: string[] = [];
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [
      before.get(name) ?? new Map<string, Uint8Array>(),
      after.get(name) ?? new Map<string, Uint8Array>(),
    ];
    const gone = [...old.keys()].filter((key) => !now.has(key));
    const come = [...now.keys()].filter((key) => !old.has(key));
    const changed = [...old].flatMap(([key, bytes]) => {
      const later = now.get(key);
      // A rebuilt document mostly has the same bytes; only other ones are deserialized.
      if (!later || Buffer.compare(bytes, later) === 0) return [];
      const [was, is] = [
        canonical(BSON.deserialize(bytes, exact)),
        canonical(BSON.deserialize(later, exact)),
      ];
      return was === is ? [] : [`${was} became ${is}`];
    });
    if (gone.length > 0)
      found.push(`${name}: ${gone.length} missing, such as ${gone.slice(0, 3).join(', ')}`);
    if (come.length > 0)
      found.push(`${name}: ${come.length} too many, such as ${come.slice(0, 3).join(', ')}`);
    for (const change of changed.slice(0, 3)) found.push(`${name}: ${change}`);
    if (changed.length > 3) found.push(`${name}: ${changed.length} changed in all`);
  }
  return found;
}

/**
 * The same documents, each in the form in which it is to be compared.
 * @param form null for a document that is not compared
 */
export function inForm(
  stored: StoredDocuments,
  form: (collection: string, document: Document) => Document | null,
): StoredDocuments {
  return new Map(
    [...stored].map(([name, documents]) => {
      const formed = [...documents].flatMap(([key, bytes]): [string, Uint8Array][] => {
        const document = form(name, BSON.deserialize(bytes, exact));
        return document ? [[key, BSON.serialize(document)]] : [];
      });
      return [name, new Map(formed)];
    }),
  );
}

const exact = { promoteLongs: false, promoteBuffers: false, promoteValues: false };

/** EJSON with every type kept and object keys in order: two values that are the same have the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(sorted(BSON.EJSON.serialize({ value }, { relaxed: false })['value']));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
