// A rebuild on real servers, while events, commands and reads go on and owners of partitions come and go.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readEditions } from '@lead-scoring/read-model';
import { eventually } from '@lead-scoring/testing/service-rig';
import { createRule, deleted, idOf, ingested } from './testing/builders.js';
import { ingestRecord, startRig, type Rig } from './testing/rig.js';

let rig: Rig;
let stopProcessor: () => Promise<void>;

beforeAll(async () => {
  rig = await startRig({ partitions: 3, processors: 0 });
  stopProcessor = await rig.startProcessor();
  await rig.request(createRule('view', { weight: 3 }));
  await rig.score(names(0, 60).map((name) => ingested(name, [{}, {}])));
}, 120_000);
afterAll(() => rig.stop(), 60_000);

const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `lead ${String(from + index)}`);
const totalOf = async () => (await rig.get('/leads?limit=1')).body.total as number;

/** What steps of fillings do: wait, fail, or go on. */
let steps: 'held' | 'failing' | 'free' = 'free';

beforeAll(() => {
  const { editions } = rig.readModel;
  const usual = editions.inTurn.bind(editions);
  editions.inTurn = (step) =>
    usual(async () => {
      while (steps === 'held') await new Promise((resolve) => setTimeout(resolve, 20));
      if (steps === 'failing') throw new TypeError('a fold with a fault');
      return step();
    });
});

test('no list is ever shorter, rules and events are decided, a lead that is deleted meanwhile is gone, and owners change', async () => {
  steps = 'held';
  let atLeast = 60;
  const seen: number[] = [];
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      const expected = atLeast;
      const total = await totalOf();
      expect(total).toBeGreaterThanOrEqual(expected);
      seen.push(total);
    }
  })();
  const rebuilding = rig.rebuild();
  await eventually('an edition is being filled', async () => {
    const { filling } = await readEditions(rig.readModel, 'scoring');
    return filling !== null;
  });
  await rig.score(names(60, 70).map((name) => ingested(name, [{}])));
  atLeast = 70;
  expect(await rig.request(createRule('another view', { weight: 2 }))).toMatchObject({ outcome: 'done' });
  // Another owner takes the filling up.
  steps = 'failing';
  await stopProcessor();
  steps = 'held';
  stopProcessor = await rig.startProcessor();
  await rig.score(names(70, 80).map((name) => ingested(name, [{}])));
  expect((await readEditions(rig.readModel, 'scoring')).live).toBe(0);
  atLeast = 79;
  await rig.score([deleted('lead 7')]);
  expect((await rig.get(`/score/${idOf('lead 7')}`)).status).toBe(404);
  steps = 'free';
  for (let round = 0; round < 5; round += 1) await rig.score(names(0, 7).map((name) => ingested(name, [{}])));
  await rebuilding;
  await eventually('reads have been answered from the filled edition', async () => {
    const { live, retired } = await readEditions(rig.readModel, 'scoring');
    return live === 1 && retired === null;
  });
  over.abort();
  await watching;
  expect(seen.length).toBeGreaterThan(10);
  expect(await totalOf()).toBe(79);
  expect((await rig.get(`/score/${idOf('lead 7')}`)).status).toBe(404);
  expect((await rig.get(`/score/${idOf('lead 0')}`)).body).toMatchObject({ score: 6 + 5 * 5 });
  // The edition of before is gone.
  const left = await rig.readModel.db.listCollections({}, { nameOnly: true }).toArray();
  expect(left.map(({ name }) => name)).toEqual(expect.not.arrayContaining(['leads', 'timeline']));
}, 120_000);

test('what was decided on both sides of the swap is what a rebuild gives', async () => {
  const live = await rig.documents();
  await rig.rebuild();
  expect(await rig.documents()).toEqual(live);
}, 60_000);

test('while a filling fails the live edition goes on, and the filling is tried again', async () => {
  steps = 'failing';
  const rebuilding = rig.rebuild();
  await rig.score(names(80, 90).map((name) => ingested(name, [{}])));
  expect(await totalOf()).toBe(89);
  steps = 'free';
  await rebuilding;
  expect(await totalOf()).toBe(89);
}, 60_000);

test('a read for which a position is named has it on either side of a swap', async () => {
  const rebuilding = rig.rebuild();
  for (let index = 90; index < 120; index += 1) {
    const [written] = await rig.write([ingestRecord(ingested(`lead ${String(index)}`, [{}]))]);
    if (!written) throw new Error('nothing was written');
    const positions = [{ partition: written.partition, offset: written.offset + 1n }];
    const { status } = await rig.get(`/score/${idOf(`lead ${String(index)}`)}`, { positions });
    expect(status).toBe(200);
  }
  await rebuilding;
  expect(await totalOf()).toBe(119);
}, 60_000);
