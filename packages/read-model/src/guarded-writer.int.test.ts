// Guarded writes on the running engine: both strategies keep the same laws, also with several writers at once.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Binary, Collection } from 'mongodb';
import { defineCollection } from './collection-declaration.js';
import { ensureCollections } from './collections.js';
import type { ReadModel } from './connection.js';
import { createGuardedWriter, deleteMatching, insertMissing } from './guarded-writer.js';
import { throwawayReadModel } from './testing/throwaway.js';
import { binaryToUuid, offsetToNumber, uuidToBinary } from './values.js';
import { replaceEach, replaceSet, strategyFor } from './write-strategies.js';

interface Lead {
  _id: Binary;
  partition: number;
  offset: number;
  ou: string;
  score: number;
  name: string;
  at: Date;
  gone?: string;
}

const leads = defineCollection<Lead>({ name: 'leads', indexes: [{ key: { ou: 1, score: -1, _id: 1 } }] });
const ids = Array.from({ length: 12 }, () => randomUUID());

function lead(id: string, offset: number, partition = 0): Lead {
  return {
    _id: uuidToBinary(id),
    partition,
    offset,
    ou: 'ou',
    score: offset % 100,
    name: `${id}@${String(offset)}`,
    at: new Date(1_700_000_000_000 + offset),
    ...(offset % 2 === 0 && { gone: 'a replaced document keeps no field of the old one' }),
  };
}

let readModel: ReadModel;
let drop: () => Promise<void>;
let collection: Collection<Lead>;
beforeAll(async () => {
  ({ readModel, drop } = await throwawayReadModel());
  await ensureCollections(readModel, [leads]);
  collection = readModel.collection(leads);
});
afterAll(() => drop());

const contents = async (of: Collection<Lead> = collection) =>
  (await of.find().toArray())
    .map(({ _id, ...rest }) => ({ id: binaryToUuid(_id), ...rest }))
    .sort((x, y) => (x.id < y.id ? -1 : 1));

function withoutId(document: Lead): Omit<Lead, '_id'> {
  const rest: Partial<Lead> = { ...document };
  delete rest._id;
  return rest as Omit<Lead, '_id'>;
}

function expected(documents: Iterable<Lead>) {
  const newest = new Map<string, Lead>();
  for (const document of documents) {
    const id = binaryToUuid(document._id);
    if ((newest.get(id)?.offset ?? -1) < document.offset) newest.set(id, document);
  }
  return [...newest]
    .map(([id, document]) => ({ id, ...withoutId(document) }))
    .sort((x, y) => (x.id < y.id ? -1 : 1));
}

describe.each([replaceEach, replaceSet])('guarded writes by $name', (strategy) => {
  test('keep the newest version of each document, for any batches in any order and any hint', async () => {
    const some = fc.array(fc.tuple(fc.constantFrom(...ids), fc.nat(30)), { maxLength: 20 });
    const writer = createGuardedWriter(readModel, strategy);
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 4 }), fc.boolean(), async (batches, hint) => {
        await collection.deleteMany({});
        const written = batches.map((batch) => batch.map(([id, offset]) => lead(id, offset)));
        for (const batch of written) await writer.write(collection, batch, { isNew: () => hint });
        expect(await contents()).toEqual(expected(written.flat()));
      }),
      { numRuns: 25 },
    );
  });

  test('count their changes, and a repetition changes nothing', async () => {
    await collection.deleteMany({});
    const writer = createGuardedWriter(readModel, strategy);
    const first = ids.map((id) => lead(id, 5));
    expect(await writer.write(collection, first)).toEqual({ inserted: 12, found: 0 });
    expect(await writer.write(collection, first)).toEqual({ inserted: 0, found: 12 });
    const mixed = ids.map((id, index) => lead(id, index));
    expect(await writer.write(collection, mixed)).toEqual({ inserted: 0, found: 12 });
    expect(await contents()).toEqual(expected([...first, ...mixed]));
  });

  test('lose no update with concurrent writers', async () => {
    await collection.deleteMany({});
    const many = Array.from({ length: 150 }, () => randomUUID());
    const written: Lead[] = [];
    // Each writer writes its own offsets in its own order of documents, like a writer that was fenced
    // and its successor.
    await Promise.all(
      [0, 1, 2, 3].map(async (writer) => {
        for (let round = 0; round < 6; round += 1) {
          const batch = many
            .map((id, index) => lead(id, ((index * 7 + round * 13 + writer * 5) % 50) * 4 + writer))
            .sort((x, y) => ((x.score * 31 + writer) % 17) - ((y.score * 31 + writer) % 17));
          written.push(...batch);
          await writeUntilDone(() =>
            createGuardedWriter(readModel, strategy).write(collection, batch, { isNew: () => round === 0 }),
          );
        }
      }),
    );
    expect(await contents()).toEqual(expected(written));
  });

  test('work across chunks, with offsets beyond 32 bit', async () => {
    await collection.deleteMany({});
    const writer = createGuardedWriter(readModel, strategy);
    const many = Array.from({ length: 2_300 }, () => randomUUID());
    const at = (offset: bigint) => many.map((id) => lead(id, offsetToNumber(offset)));
    expect(await writer.write(collection, at(2_147_483_646n), { isNew: () => true })).toMatchObject({
      inserted: 2_300,
    });
    expect(await writer.write(collection, at(2_147_483_648n))).toEqual({ inserted: 0, found: 2_300 });
    expect(await writer.write(collection, at(2_147_483_647n))).toEqual({ inserted: 0, found: 2_300 });
    expect(await writer.write(collection, at(9_007_199_254_740_990n))).toEqual({ inserted: 0, found: 2_300 });
    expect(await writer.write(collection, at(9_007_199_254_740_991n))).toEqual({ inserted: 0, found: 2_300 });
    expect(await collection.countDocuments({ offset: 9_007_199_254_740_991 })).toBe(2_300);
  });

  test('store values that look like operators and paths as values', async () => {
    await collection.deleteMany({});
    const writer = createGuardedWriter(readModel, strategy);
    for (const name of ['$name', '$$ROOT', '$$next.offset', '{"$ne":1}', 'a.b', '\u0000', '😀', '']) {
      const [id = ''] = ids;
      const offset = (await collection.findOne({ _id: uuidToBinary(id) }))?.offset ?? 0;
      await writer.write(collection, [{ ...lead(id, offset + 1), name }]);
      expect((await collection.findOne({ _id: uuidToBinary(id) }))?.name).toBe(name);
    }
  });
});

/** Retries the deadlock errors of writers that lock the same documents in different orders. */
async function writeUntilDone(write: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await write();
      return;
    } catch (error) {
      if (attempt === 20 || !(error instanceof Error && 'retriable' in error && error.retriable === true))
        throw error;
    }
  }
}

describe('writing', () => {
  test('an engine has a strategy', () => {
    expect(strategyFor(readModel.engine).chunk).toBeGreaterThan(0);
  });

  test('insertMissing inserts each document once, for any number of callers and calls', async () => {
    await collection.deleteMany({});
    const documents = Array.from({ length: 1_500 }, (_, index) => lead(randomUUID(), index));
    expect(await insertMissing(collection, documents.slice(0, 700))).toBe(700);
    const counts = await Promise.all([
      insertMissing(collection, documents),
      insertMissing(collection, documents),
    ]);
    expect(counts[0] + counts[1]).toBe(800);
    expect(await insertMissing(collection, documents)).toBe(0);
    expect(await contents()).toEqual(expected(documents));
    expect(await insertMissing(collection, [])).toBe(0);
  });

  test('deleteMatching deletes what any of many filters matches, and nothing else', async () => {
    await collection.deleteMany({});
    const documents = Array.from({ length: 120 }, (_, index) => lead(randomUUID(), index));
    await insertMissing(collection, documents);
    const filters = documents.map(({ _id }) => ({ _id, offset: { $lt: 70 } }));
    await deleteMatching(collection, filters.slice(10));
    const left = documents.filter(({ offset }) => offset < 10 || offset >= 70);
    expect(await contents()).toEqual(expected(left));
    await deleteMatching(collection, []);
    await deleteMatching(collection, filters);
    expect(await contents()).toEqual(expected(documents.slice(70)));
  });

  test('a document that the database refuses is an error that is not retriable', async () => {
    const refused = { ...lead(randomUUID(), 1), ['bad\0key']: 1 };
    await expect(insertMissing(collection, [refused])).rejects.toThrow();
    await expect(createGuardedWriter(readModel).write(collection, [refused])).rejects.not.toMatchObject({
      retriable: true,
    });
  });
});
