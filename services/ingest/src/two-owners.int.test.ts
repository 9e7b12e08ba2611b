// Several processes share the partitions while one starts and stops; each event is stored once.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ingest } from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ partitions: 4, processors: 2 });
}, 90_000);
afterAll(async () => {
  await rig.stop();
}, 90_000);

test('while a third owner starts and stops and every batch is sent twice, each event is stored once', async () => {
  const batch = (round: number) =>
    ingest(
      Array.from({ length: 50 }, (_, index) => ({
        aliases: [`lead${String(index)}`, `cookie:${String(index % 10)}`],
        event_id: `${String(round)}-${String(index)}`,
      })),
    );
  await rig.take([batch(1), batch(1)]);
  const stopThird = await rig.startProcessor();
  await rig.send([batch(2), batch(2)]);
  await stopThird();
  await rig.take([batch(3), batch(2), batch(3)]);
  const { body } = await rig.get('/events?limit=100');
  expect(body).toMatchObject({ total: 150 });
  const live = await rig.documents();
  expect(live.known_events).toHaveLength(150);
  const seconds = live.event_seconds as { count: number }[];
  expect(seconds.reduce((sum, { count }) => sum + count, 0)).toBe(150);
}, 120_000);
