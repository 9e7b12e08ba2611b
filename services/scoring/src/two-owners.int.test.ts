// Two processes share the partitions, start and stop, and each event counts once.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { routeDeclarations } from '@lead-scoring/contracts';
import { createRule, idOf, ingested } from './testing/builders.js';
import { startRig, type Rig } from './testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ partitions: 4, processors: 2 });
}, 90_000);
afterAll(async () => {
  await rig.stop();
}, 90_000);

test('while a second owner starts and stops, every event gives its points once, by the same rules in all owners', async () => {
  await rig.request(createRule('view', { weight: 3 }));
  const names = Array.from({ length: 40 }, (_, index) => `lead ${String(index)}`);
  const batch = () => names.map((name) => ingested(name, [{}]));
  await rig.score(batch());
  const stopThird = await rig.startProcessor();
  await rig.score(batch());
  const scored = rig.score(batch());
  await stopThird();
  await scored;
  await rig.score(batch());
  const { body } = await rig.get('/leads?limit=100');
  const leads = body.data as routeDeclarations.Lead[];
  expect(leads.map(({ score }) => score)).toEqual(names.map(() => 12));
  expect(leads.map(({ id }) => id).sort()).toEqual(names.map(idOf).sort());
  const { body: explanation } = await rig.get(`/lead/${idOf('lead 0')}/score-explain?range_hours=876000`);
  expect(explanation).toMatchObject({ score: 12, unattributed: 0, entries_total: 4 });
}, 120_000);
