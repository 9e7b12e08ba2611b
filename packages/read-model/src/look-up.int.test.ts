// Looking up by ids on the running engine.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Binary, Collection } from 'mongodb';
import { defineCollection } from './collection-declaration.js';
import type { ReadModel } from './connection.js';
import { findByIds, findStoredIds } from './look-up.js';
import { hexOf, orderedKey } from './ordered-keys.js';
import { throwawayReadModel } from './testing/throwaway.js';

interface Numbered {
  _id: Binary;
  number: number;
}

const owner = '11111111-1111-4111-8111-111111111111';
const keyAt = (number: number) => orderedKey([owner], number);
/** More than go into one call. */
const count = 2_500;

let readModel: ReadModel;
let drop: () => Promise<void>;
let collection: Collection<Numbered>;
beforeAll(async () => {
  ({ readModel, drop } = await throwawayReadModel());
  collection = readModel.collection(defineCollection<Numbered>({ name: 'numbered', indexes: [] }));
  await collection.insertMany(Array.from({ length: count }, (_, number) => ({ _id: keyAt(number), number })));
});
afterAll(() => drop());

test('every stored document is found once, for any number of ids', async () => {
  const found = await findByIds(
    collection,
    Array.from({ length: 2 * count }, (_, number) => keyAt(number)),
  );
  expect(found.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
    Array.from({ length: count }, (_, number) => number),
  );
  for (const { _id, number } of found) expect(hexOf(_id)).toBe(hexOf(keyAt(number)));
});

test('findStoredIds returns the stored ids', async () => {
  const found = await findStoredIds(collection, [keyAt(7), keyAt(count), keyAt(count - 1)]);
  expect(found.map(hexOf).sort()).toEqual([keyAt(7), keyAt(count - 1)].map(hexOf).sort());
});

test('without ids there is nothing to find', async () => {
  expect(await findByIds(collection, [])).toEqual([]);
  expect(await findStoredIds(collection, [])).toEqual([]);
});
