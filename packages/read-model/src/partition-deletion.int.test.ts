// Deleting what a partition owns, step by step, on the running engine.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { defineCollection } from './collection-declaration.js';
import { ensureCollections } from './collections.js';
import type { ReadModel } from './connection.js';
import { deletePartition } from './partition-deletion.js';
import { throwawayReadModel } from './testing/throwaway.js';

const owned = defineCollection<{ _id: Binary | string | number; partition: number }>({
  name: 'owned',
  indexes: [],
});

let readModel: ReadModel;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ readModel, drop } = await throwawayReadModel());
  await ensureCollections(readModel, [owned]);
});
afterAll(() => drop());

async function fill(idOf: (index: number) => Binary | string | number, count: number): Promise<void> {
  await readModel.collection(owned).deleteMany({});
  const documents = Array.from({ length: count }, (_, index) => ({ _id: idOf(index), partition: index % 3 }));
  if (documents.length > 0) await readModel.collection(owned).insertMany(documents);
}

async function left(): Promise<number[]> {
  const found = await readModel.collection(owned).find().toArray();
  return found.map(({ partition }) => partition).sort();
}

const bytesOf = (index: number) => new Binary(Buffer.from([(index * 37) % 256, index % 256, index >> 8]));

test.each([
  ['bytes', bytesOf],
  ['text', (index: number) => `id ${String((index * 37) % 256)} ${String(index)}`],
  ['numbers', (index: number) => index - 20],
])('under ids that are %s: all of the partition, and nothing of another', async (_, idOf) => {
  for (const count of [0, 1, 9, 10, 11, 50]) {
    await fill(idOf, count);
    const expected = Array.from({ length: count }, (_, index) => index % 3).filter((one) => one !== 1);
    const deleted = await deletePartition(readModel, owned, 1, () => undefined, 10);
    expect(deleted).toBe(count - expected.length);
    expect(await left()).toEqual(expected.sort());
  }
});

test('it calls touch after every step, also when the partition owns nothing', async () => {
  await fill(bytesOf, 45);
  for (const partition of [1, 7]) {
    let touched = 0;
    await deletePartition(readModel, owned, partition, () => (touched += 1), 10);
    expect(touched).toBeGreaterThanOrEqual(4);
  }
});

test('an interrupted deletion is completed by the same call', async () => {
  await fill(bytesOf, 45);
  let steps = 0;
  const breakOff = () => {
    steps += 1;
    if (steps === 2) throw new Error('broken off');
  };
  await expect(deletePartition(readModel, owned, 1, breakOff, 10)).rejects.toThrow('broken off');
  expect((await left()).filter((partition) => partition === 1)).not.toEqual([]);
  await deletePartition(readModel, owned, 1, () => undefined, 10);
  expect((await left()).filter((partition) => partition === 1)).toEqual([]);
});
