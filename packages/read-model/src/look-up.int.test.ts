// Looking up by ids on the running engine.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Binary, Collection } from 'mongodb';
import { defineCollection } from './collection-declaration.js';
import type { ReadModel } from './connection.js';
import { findByIds, findStoredIds } from './look-up.js';
import { hexOf, keysWithin, offsetBytes, orderedKey, readUuid, bytesOf } from './ordered-keys.js';
import { oneWithinEach } from './range-look-up.js';
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

test('oneWithinEach finds one document of each range that has any, for any number of ranges', async () => {
  const name = (number: number) => `22222222-2222-4222-8222-${String(number).padStart(12, '0')}`;
  const even = Array.from({ length: 30 }, (_, half) => name(2 * half));
  await collection.insertMany(
    even.flatMap((uuid) => [1, 2].map((number) => ({ _id: orderedKey([uuid], number), number }))),
  );
  const asked = Array.from({ length: 75 }, (_, number) => keysWithin([name(number)], offsetBytes));
  const found = await oneWithinEach(collection, asked, ['number']);
  expect(found.map(({ _id }) => readUuid(bytesOf(_id), 0)).sort()).toEqual(even);
  for (const { number } of found) expect([1, 2]).toContain(number);
  expect(await oneWithinEach(collection, [], [])).toEqual([]);
});
