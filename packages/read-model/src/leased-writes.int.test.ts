// A lease that ends while a write is inside the driver: nothing is written, and the connection serves the next write.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Collection } from 'mongodb';
import { defineCollection } from './collection-declaration.js';
import { insertMissing } from './guarded-writer.js';
import { optionsAt, underLease } from './lease.js';
import { createLease } from './testing/lease.js';
import { throwawayReadModel } from './testing/throwaway.js';

interface Item {
  _id: number;
  text: string;
}
const declaration = defineCollection<Item>({ name: 'items', indexes: [] });
const there: Item = { _id: 0, text: 'there before' };
const late: Item = { _id: 1, text: 'late' };

let throwaway: Awaited<ReturnType<typeof throwawayReadModel>>;
let items: Collection<Item>;
beforeAll(async () => {
  throwaway = await throwawayReadModel({ maximumConnections: 1 });
  items = throwaway.readModel.collection(declaration);
  await items.insertOne(there);
}, 60_000);
afterAll(() => throwaway.drop());

/** Calls a write and ends the lease synchronously: the driver has accepted the write and sent nothing of it. */
function lostOnceCalled(write: (collection: Collection<Item>) => Promise<unknown>): Promise<unknown> {
  const lease = createLease();
  const written = write(underLease(throwaway.readModel, lease).collection(declaration));
  lease.lose();
  return written;
}

const set = { $set: { text: 'late' } };
const calls: Record<string, (collection: Collection<Item>) => Promise<unknown>> = {
  bulkWrite: (collection) =>
    collection.bulkWrite([
      { updateOne: { filter: { _id: 0 }, update: set } },
      { insertOne: { document: late } },
    ]),
  deleteMany: (collection) => collection.deleteMany({}),
  deleteOne: (collection) => collection.deleteOne({ _id: 0 }),
  findOneAndDelete: (collection) => collection.findOneAndDelete({ _id: 0 }),
  findOneAndReplace: (collection) => collection.findOneAndReplace({ _id: 0 }, { text: 'late' }),
  findOneAndUpdate: (collection) => collection.findOneAndUpdate({ _id: 0 }, set, { upsert: true }),
  insertMany: (collection) => collection.insertMany([late], { ordered: false }),
  insertOne: (collection) => collection.insertOne(late),
  replaceOne: (collection) => collection.replaceOne({ _id: 1 }, { text: 'late' }, { upsert: true }),
  updateMany: (collection) => collection.updateMany({}, set),
  updateOne: (collection) => collection.updateOne({ _id: 0 }, set),
};
const stored = () => items.find().sort({ _id: 1 }).toArray();

test('every method that writes is tried', () => {
  expect(Object.keys(calls).sort()).toEqual([...optionsAt.keys()].sort());
});

test.each(Object.entries(calls))('%s is not sent once the lease is lost', async (_name, write) => {
  await expect(lostOnceCalled(write)).rejects.toThrow('the lease has ended');
  expect(await stored()).toEqual([there]);
});

test('a write that waits for a free connection is refused when it gets one; the next write is served', async () => {
  const before = items.countDocuments();
  const refused = lostOnceCalled((collection) => collection.insertOne(late));
  const after = items.countDocuments();
  await expect(refused).rejects.toThrow('the lease has ended');
  expect([await before, await after]).toEqual([1, 1]);
});

test('a bulk write fails with the error of the lease, not as a fault of the database', async () => {
  await expect(lostOnceCalled((collection) => insertMissing(collection, [late]))).rejects.toMatchObject({
    code: 'lease_ended',
    retriable: true,
  });
});

test('while the lease lasts everything is written, with the options that the caller passes', async () => {
  const collection = underLease(throwaway.readModel, createLease()).collection(declaration);
  await collection.updateOne({ _id: 1 }, set, { upsert: true });
  expect(await stored()).toEqual([there, late]);
});
