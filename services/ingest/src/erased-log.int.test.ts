// A database that was restored from before an erasure of the log: the service deletes anew what the log says is deleted.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eraseLog } from '@lead-scoring/event-log';
import { deleteLead, ingest, leadOf } from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ processors: 0 });
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

/** Every document of the database, as a backup has it. */
async function backUp() {
  const collections = await rig.readModel.db.collections();
  return new Map(
    await Promise.all(
      collections.map(async (one) => [one.collectionName, await one.find().toArray()] as const),
    ),
  );
}

async function restore(backup: Awaited<ReturnType<typeof backUp>>): Promise<void> {
  for (const collection of await rig.readModel.db.collections()) {
    await collection.deleteMany({});
    const documents = backup.get(collection.collectionName) ?? [];
    if (documents.length > 0) await collection.insertMany(documents);
  }
}

test('a lead that was erased from the log is not brought back by a database from before, nor by a rebuild of it', async () => {
  const event = { event_id: 'counted', event_type: 'Own' };
  const running = async (work: () => Promise<void>) => {
    const stop = await rig.startProcessor();
    await work();
    await stop();
  };
  await running(() => rig.take([ingest([{ aliases: ['forgotten'], ...event }, { aliases: ['stays'] }])]));
  const backup = await backUp();
  expect(backup.get('event_records')).toHaveLength(2);

  await running(async () => {
    await rig.take([ingest([{ aliases: ['forgotten'] }, { aliases: ['stays'] }])]);
    expect(await rig.request(deleteLead('forgotten'))).toEqual({ outcome: 'done' });
  });
  const live = await rig.documents();
  const { events } = await eraseLog(rig.log);
  expect(events.find(({ topic }) => topic === 'ingest.events')?.erased).toBeGreaterThan(0);

  await restore(backup);
  await running(async () => {
    const expectForgotten = async () => {
      expect((await rig.get(`/events/${leadOf('forgotten')}`)).status).toBe(404);
      expect((await rig.get('/events')).body).toMatchObject({ total: 2 });
      expect((await rig.get('/event-types')).body).toEqual(['Page View']);
      expect((await rig.documents()).event_records).toEqual(live.event_records);
    };
    await expectForgotten();
    await rig.rebuild();
    await expectForgotten();
    // The event that was counted before the deletion is a repeat.
    await rig.take([ingest([{ aliases: ['forgotten'], ...event }])]);
    expect((await rig.get(`/events/${leadOf('forgotten')}`)).status).toBe(404);
  });
}, 180_000);
