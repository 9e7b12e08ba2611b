// States that are written behind, on the running engine: whatever is evicted, written or deleted meanwhile, loads see the states
// as they were put in last, and each cycle leaves the documents that they stand for.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Binary } from 'mongodb';
import { BufferedInserts, BufferedReplacements } from './buffered-documents.js';
import { BufferedStates } from './buffered-states.js';
import { defineCollection } from './collection-declaration.js';
import { ensureCollections } from './collections.js';
import type { ReadModel } from './connection.js';
import { throwawayReadModel } from './testing/throwaway.js';
import { binaryToUuid, uuidToBinary } from './values.js';
import { WriteBehind } from './write-behind.js';

interface Lead {
  readonly score: number;
  readonly offset: number;
}

interface LeadDocument {
  _id: Binary;
  partition: number;
  offset: number;
  score: number;
}

const leads = defineCollection<LeadDocument>({ name: 'leads', indexes: [] });
const entries = defineCollection<{ _id: string }>({ name: 'entries', indexes: [] });

let readModel: ReadModel;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ readModel, drop } = await throwawayReadModel());
  await ensureCollections(readModel, [leads, entries]);
});
afterAll(() => drop());

const toDocument = ({ score, offset }: Lead, id: string): LeadDocument => ({
  _id: uuidToBinary(id),
  partition: 0,
  offset,
  score,
});

function openStates({ maximumCached = 2, cachedAsObjects = 5, on = readModel } = {}) {
  return new BufferedStates<Lead, LeadDocument>(on, {
    collection: leads,
    idOf: uuidToBinary,
    toState: ({ score, offset }) => ({ score, offset }),
    toDocument,
    maximumCached,
    cachedAsObjects,
  });
}

async function storedLeads(): Promise<Map<string, Lead>> {
  const found = await readModel.collection(leads).find().toArray();
  return new Map(found.map(({ _id, score, offset }) => [binaryToUuid(_id), { score, offset }]));
}

describe('buffered states', () => {
  test('loads see every change, and cycles store the last ones, whatever the cache has evicted', async () => {
    const ids = Array.from({ length: 5 }, () => randomUUID());
    const step = fc.record({
      changed: fc.array(fc.tuple(fc.constantFrom(...ids), fc.boolean()), { maxLength: 8 }),
      then: fc.constantFrom('go on', 'begin to write', 'write', 'forget'),
    });
    const caches = fc.constantFrom(
      {},
      { maximumCached: 3, cachedAsObjects: 1 },
      { maximumCached: 9, cachedAsObjects: 2 },
    );
    await fc.assert(
      fc.asyncProperty(caches, fc.array(step, { maxLength: 12 }), async (cache, steps) => {
        await readModel.collection(leads).deleteMany({});
        const states = openStates(cache);
        const behind = new WriteBehind([states]);
        const expected = new Map<string, Lead>();
        let offset = 0;
        for (const { changed, then } of steps) {
          const loaded = await states.load(changed.map(([id]) => id));
          for (const [id, state] of loaded) expect(state).toEqual(expected.get(id) ?? null);
          for (const [id, isRemoved] of changed) {
            offset += 1;
            if (isRemoved) expected.delete(id);
            else expected.set(id, { score: offset, offset });
            states.put(id, expected.get(id) ?? null);
          }
          if (then === 'begin to write') void behind.write();
          if (then === 'write') await behind.write();
          if (then === 'forget') {
            await behind.write();
            behind.forget();
          }
        }
        await behind.write();
        expect(await storedLeads()).toEqual(expected);
        expect(await states.load(ids)).toEqual(new Map(ids.map((id) => [id, expected.get(id) ?? null])));
      }),
      { numRuns: 50 },
    );
  });

  test('states beyond those that are kept as objects stay in memory', async () => {
    const ids = Array.from({ length: 4 }, () => randomUUID());
    const states = openStates({ maximumCached: 3, cachedAsObjects: 1 });
    ids.forEach((id, score) => {
      states.put(id, { score, offset: score });
    });
    await new WriteBehind([states]).write();
    expect(ids.map((id) => states.get(id)?.score)).toEqual([undefined, 1, 2, 3]);
    expect(ids.map((id) => states.get(id)?.score)).toEqual([undefined, 1, 2, 3]);
  });

  test('a state that was put in during a look-up is not replaced by what the look-up has found', async () => {
    const id = randomUUID();
    await readModel.collection(leads).insertOne(toDocument({ score: 1, offset: 1 }, id));
    const states = openStates();
    const loading = states.load([id]);
    states.put(id, { score: 2, offset: 2 });
    expect(await loading).toEqual(new Map([[id, { score: 2, offset: 2 }]]));
    expect(states.get(id)).toEqual({ score: 2, offset: 2 });
  });

  test('what a look-up has found is not kept where a newer state may have been evicted meanwhile', async () => {
    const [id, other] = [randomUUID(), randomUUID()];
    await readModel.collection(leads).insertOne(toDocument({ score: 1, offset: 1 }, id));
    const states = openStates();
    const loading = states.load([id]);
    states.put(other, { score: 5, offset: 5 });
    await loading;
    expect(states.get(id)).toBeUndefined();
  });

  test('states that are changed in place are written as they were when the cycle began', async () => {
    const id = randomUUID();
    const states = new BufferedStates<{ score: number; offset: number }, LeadDocument>(readModel, {
      collection: leads,
      idOf: uuidToBinary,
      toState: ({ score, offset }) => ({ score, offset }),
      toDocument,
      maximumCached: 1,
      changesInPlace: true,
    });
    const behind = new WriteBehind([states]);
    await states.load([id]);
    const state = { score: 1, offset: 1 };
    states.put(id, state);
    const written = behind.write();
    await Promise.resolve();
    state.score = 2;
    state.offset = 2;
    states.put(id, state);
    await written;
    expect((await storedLeads()).get(id)).toEqual({ score: 1, offset: 1 });
    await behind.write();
    expect((await storedLeads()).get(id)).toEqual({ score: 2, offset: 2 });
  });

  test('a document that its owner has deleted is known to be gone', async () => {
    const id = randomUUID();
    const states = openStates();
    await states.load([id]);
    states.put(id, { score: 1, offset: 1 });
    await new WriteBehind([states]).write();
    await readModel.collection(leads).deleteOne({ _id: uuidToBinary(id) });
    states.deleted(id);
    expect(await states.load([id])).toEqual(new Map([[id, null]]));
  });

  test('many states in one cycle are all written', async () => {
    await readModel.collection(leads).deleteMany({});
    const states = openStates();
    const behind = new WriteBehind([states]);
    const expected = new Map(
      Array.from({ length: 4_100 }, (_, offset) => [randomUUID() as string, { score: offset, offset }]),
    );
    for (const [id, state] of expected) states.put(id, state);
    await behind.write();
    expect(await storedLeads()).toEqual(expected);
  });
});

test('documents to be inserted are inserted once, and what was there before stays', async () => {
  await readModel.collection(entries).insertOne({ _id: 'b' });
  const inserts = new BufferedInserts(readModel, entries, { order: 'ids' });
  const behind = new WriteBehind([inserts]);
  for (const _id of ['c', 'a', 'b']) inserts.put({ _id });
  expect(inserts.size).toBe(3);
  await behind.write();
  expect(inserts.size).toBe(0);
  await behind.write();
  expect(
    (await readModel.collection(entries).find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id),
  ).toEqual(['a', 'b', 'c']);
});

test('of documents that replace each other the one with the highest offset is stored', async () => {
  const id = randomUUID();
  const replacements = new BufferedReplacements(readModel, leads);
  const behind = new WriteBehind([replacements]);
  for (const offset of [4, 6, 5]) replacements.put(toDocument({ score: offset, offset }, id));
  await behind.write();
  replacements.put(toDocument({ score: 1, offset: 1 }, id));
  await behind.write();
  expect((await storedLeads()).get(id)).toEqual({ score: 6, offset: 6 });
});
