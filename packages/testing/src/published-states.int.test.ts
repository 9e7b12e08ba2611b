// Published states on a real server: a read returns the newest version of a state, whichever states are read at the same time.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPublishedStates, type PublishedDocument } from '@lead-scoring/capability';
import { defineCollection, uuidToBinary } from '@lead-scoring/read-model';
import { openServiceRig, type ServiceRig } from './service-rig.js';

const published = defineCollection<PublishedDocument>({ name: 'published_states', indexes: [] });
const ids = Array.from({ length: 5 }, () => randomUUID());
let rig: ServiceRig;

beforeAll(async () => {
  rig = await openServiceRig({ service: 'share', collections: [published], ouId: randomUUID() });
  await rig.readModel
    .collection(published)
    .insertMany(ids.map((id) => ({ _id: uuidToBinary(id), version: 1, content: id, partition: 0 })));
}, 120_000);

afterAll(() => rig.stop(), 60_000);

const readerKeeping = (maximumKept: number) =>
  createPublishedStates<{ version: number; content: string }>(rig.readModel, {
    collection: published,
    toState: ({ version, content }) => ({ version, content }),
    initial: () => ({ version: 0, content: '' }),
    versionOf: ({ version }) => version,
    maximumKept,
  });

test('concurrent loads of more states than the cache keeps do not evict each other’s states', async () => {
  const reader = readerKeeping(1);
  for (let round = 0; round < 20; round += 1) {
    const loads = await Promise.all(ids.map((id) => reader.load([id])));
    expect(loads.map((states, index) => states.get(ids[index] ?? '')?.content)).toEqual(ids);
  }
});

test('a state is the same object until a newer version is published, even if no version was published', async () => {
  const reader = readerKeeping(100);
  const [first = '', unpublished] = [ids[0], randomUUID()];
  const before = await reader.load([first, unpublished]);
  const again = await reader.load([first, unpublished]);
  for (const id of [first, unpublished]) expect(again.get(id)).toBe(before.get(id));
  await rig.readModel
    .collection(published)
    .updateOne({ _id: uuidToBinary(first) }, { $set: { version: 2, content: 'newer' } });
  expect((await reader.load([first])).get(first)).toEqual({ version: 2, content: 'newer' });
});
