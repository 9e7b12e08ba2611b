// Paging and searching on the running engine.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Binary, Collection } from 'mongodb';
import { defineCollection } from './collection-declaration.js';
import { ensureCollections } from './collections.js';
import type { ReadModel } from './connection.js';
import { containsText, equals, findPage, within, type SortOrder } from './queries.js';
import { throwawayReadModel } from './testing/throwaway.js';
import { binaryToUuid, uuidToBinary } from './values.js';

interface Lead {
  _id: Binary;
  ou: string;
  score: number;
  name: string;
  at: Date;
}

const leads = defineCollection<Lead>({ name: 'leads', indexes: [{ key: { ou: 1, score: -1, _id: 1 } }] });
const hostile = ['a.c', '(a+)+$', '\\d', '[x]', '$where', '^', '%_', 'Ünïcode', "o'neill", '😀', 'tab\there'];

let readModel: ReadModel;
let drop: () => Promise<void>;
let collection: Collection<Lead>;
beforeAll(async () => {
  ({ readModel, drop } = await throwawayReadModel());
  await ensureCollections(readModel, [leads]);
  collection = readModel.collection(leads);
  await collection.insertMany(
    Array.from({ length: 137 }, (_, index) => ({
      _id: uuidToBinary(randomUUID()),
      ou: index % 10 === 9 ? 'other' : 'ou',
      // Few values, so that most documents have the same as others; whole, fractional and negative ones.
      score: [-3, 0, 2.5, 7, 2_147_483_648][index % 5] ?? 0,
      name: `${hostile[index % hostile.length] ?? ''} ${String(index % 7)}`,
      at: new Date(1_700_000_000_000 + (index % 4) * 1_000),
    })),
  );
});
afterAll(() => drop());

const orders: SortOrder<Lead>[] = (['score', 'name', 'at', '_id'] as const).flatMap((field) => [
  { field, direction: 'ascending' },
  { field, direction: 'descending' },
]);

describe.each(orders)('pages by $field $direction', (sort) => {
  const filter = { ou: equals('ou') };
  const toItem = ({ _id }: Lead) => binaryToUuid(_id);

  test('by cursor show every document once, in the same order as by number', async () => {
    const byNumber: string[] = [];
    for (let page = 1; ; page += 1) {
      const found = await findPage(collection, { filter, sort, request: { page, limit: 11 }, toItem });
      expect(found).toMatchObject({ total: 124, page, limit: 11 });
      byNumber.push(...found.data);
      if (found.next_cursor === undefined) break;
    }
    const byCursor: string[] = [];
    let cursor: string | undefined;
    do {
      const found = await findPage(collection, {
        filter,
        sort,
        request: { page: 1, limit: 11, cursor },
        toItem,
      });
      byCursor.push(...found.data);
      cursor = found.next_cursor;
    } while (cursor !== undefined);
    expect(byCursor).toEqual(byNumber);
    expect(new Set(byCursor).size).toBe(124);
  });
});

describe('reading', () => {
  const sort: SortOrder<Lead> = { field: 'name', direction: 'ascending' };

  test('only wanted fields are read, and a known total is not counted', async () => {
    const page = await findPage(collection, {
      filter: { ou: equals('ou') },
      sort,
      request: { page: 1, limit: 1 },
      total: 9_999,
      projection: { score: 1 },
      toItem: (stored) => Object.keys(stored).sort(),
    });
    expect(page).toMatchObject({ total: 9_999, data: [['_id', 'name', 'score']] });
  });

  test('a search text is matched literally, including characters of regular expressions', async () => {
    for (const text of hostile) {
      const expected = (await collection.find().toArray()).filter(({ name }) => name.includes(text)).length;
      expect(await collection.countDocuments({ name: containsText(text) })).toBe(expected);
    }
    expect(await collection.countDocuments({ name: containsText('üNÏCODE') })).toBe(
      await collection.countDocuments({ name: containsText('Ünïcode') }),
    );
    expect(await collection.countDocuments({ name: containsText('nothing\0here') })).toBe(0);
  });

  test('the bounds from and to are inclusive, before is exclusive', async () => {
    const at = within({ from: new Date(1_700_000_001_000), before: new Date(1_700_000_003_000) });
    const found = await collection.find(at ? { at } : {}).toArray();
    expect(new Set(found.map((lead) => lead.at.getTime()))).toEqual(
      new Set([1_700_000_001_000, 1_700_000_002_000]),
    );
  });
});
