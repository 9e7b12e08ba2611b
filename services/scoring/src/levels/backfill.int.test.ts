// A backfill of levels on real servers: after new levels, consumers of the log are told where each lead is, once.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { records, type routeDeclarations } from '@lead-scoring/contracts';
import { backfillFrame } from '@lead-scoring/testing/backfill-frame';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  addMapping,
  createRule,
  deleted,
  idOf,
  ingested,
  otherOuId,
  ouId,
  setLevels,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

const names = Array.from({ length: 12 }, (_, index) => `lead ${String(index)}`);
/** Every third lead has two views, the others one. */
const hot = names.filter((_, index) => index % 3 === 0);

let rig: Rig;
let stopProcessor: () => Promise<void>;
beforeAll(async () => {
  // Each partition has several groups of leads.
  rig = await startRig({ partitions: 3, processors: 0, leadsPerStep: 2 });
  stopProcessor = await rig.startProcessor();
  await rig.request(createRule('view'));
  await rig.score([
    ...names.map((name) => ingested(name, [{ id: idOf(`first view of ${name}`) }])),
    ...hot.map((name) => ingested(name, [{ id: idOf(`second view of ${name}`) }])),
    ingested('gone', [{ id: idOf('view of gone') }]),
    deleted('gone'),
  ]);
}, 120_000);
afterAll(() => rig.stop(), 60_000);

const { asked, start, completed, backfilled } = backfillFrame<
  records.StartLevelBackfill,
  routeDeclarations.LevelBackfillResult
>(() => rig, {
  service: 'scoring',
  kind: 'level-backfill',
  command: records.startLevelBackfill,
  ouId,
  usual: {},
});
const told = async () =>
  (await rig.recordsOn('scoring.events')).flatMap(({ type, payload }) =>
    type === 'LeadLevelChanged' ? [payload as records.LeadLevelChanged] : [],
  );

const nobody = { entering: 0, moving: 0, leaving: 0, unchanged: 0 };
const ids = { Warm: idOf('Warm'), Hot: idOf('Hot') };

test('a dry run says of how many leads the level would be told, by the first levels, and tells nothing', async () => {
  await rig.request(
    setLevels([
      ['Warm', 5, 19, { id: ids.Warm }],
      ['Hot', 20, null, { id: ids.Hot }],
    ]),
  );
  const engagement = {
    ...nobody,
    entering: names.length,
    levels: [
      { id: ids.Warm, name: 'Warm', leads: names.length - hot.length, told: 0 },
      { id: ids.Hot, name: 'Hot', leads: hot.length, told: 0 },
    ],
  };
  const profile = { ...nobody, levels: [] };
  expect(await backfilled({ dry_run: true })).toEqual({ dry_run: true, engagement, profile });
  expect(await backfilled({ ou_id: otherOuId })).toMatchObject({ engagement: nobody });
  expect(await told()).toEqual([]);
}, 60_000);

test('consumers are told of each lead once, also when the service stops in between; two at a time are refused', async () => {
  const request = asked();
  await start(request);
  const second = await start(asked());
  const { body: left } = await rig.get(`/jobs/scoring-${request.job_id}`);
  await stopProcessor();
  stopProcessor = await rig.startProcessor();
  expect((await completed(request)).result).toMatchObject({ engagement: { entering: names.length } });
  if (left.status === 'running')
    expect(second).toMatchObject({
      code: 'job_running',
      message: expect.stringContaining(`scoring-${request.job_id}`),
    });
  await eventually('all are told', async () => ((await told()).length >= names.length ? true : undefined));
  const all = await told();
  expect(all).toHaveLength(names.length);
  expect(new Map(all.map(({ lead_id, level_name }) => [lead_id, level_name]))).toEqual(
    new Map(names.map((name) => [idOf(name), hot.includes(name) ? 'Hot' : 'Warm'])),
  );
  for (const one of all)
    expect(one).toMatchObject({ cause: 'levels', previous_level_id: null, fire_triggers: false });
}, 60_000);

test('a second one has nothing to tell; after changed levels it tells of those that moved, and of profile levels too', async () => {
  expect(await backfilled()).toMatchObject({ engagement: { ...nobody, unchanged: names.length } });
  await rig.request(setLevels([['Warm', 5, 30, { id: ids.Warm }]]));
  await rig.request(addMapping('title', 'title', 'metadata.title'));
  const { engagement, profile } = await backfilled();
  expect(engagement).toMatchObject({ ...nobody, moving: hot.length, unchanged: names.length - hot.length });
  expect(profile).toMatchObject({ ...nobody, unchanged: names.length });
  const moved = await eventually('they are told', async () => {
    const later = (await told()).filter(({ previous_level_id }) => previous_level_id !== null);
    return later.length >= hot.length ? later : undefined;
  });
  expect(moved.map(({ lead_id }) => lead_id).sort()).toEqual(hot.map(idOf).sort());
  for (const one of moved) expect(one).toMatchObject({ previous_level_id: ids.Hot, level_id: ids.Warm });
}, 60_000);
