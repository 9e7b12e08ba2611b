// Top leads and gains on real servers, while events, imports, resets, deletions and ticks of decay change scores.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { nameBasedId, routes, type routeDeclarations } from '@lead-scoring/contracts';
import { Binary, uuidToBinary } from '@lead-scoring/read-model';
import { eventually } from '@lead-scoring/testing/service-rig';
import { histograms } from '../leads/documents.js';
import { createRule, deleted, idOf, ingested, otherOuId, ouId, resetScores } from '../testing/builders.js';
import { createDecay } from '../testing/decay-builders.js';
import { startRig, type Rig } from '../testing/rig.js';
import { gainListKey, gainLists } from './documents.js';
import { entriesPerList, hourMs } from './gain-model.js';
import { maximumLists } from './largest-gains.js';

let rig: Rig;

beforeAll(async () => {
  rig = await startRig({ partitions: 3 });
  await rig.request(createRule('view', { event_type: 'Page View', weight: 1, requested_at: hoursAgo(100) }));
  await rig.request(createRule('call', { event_type: 'Call', weight: 30, requested_at: hoursAgo(100) }));
}, 120_000);
afterAll(() => rig.stop(), 60_000);

/** A time by the clock of the queries. */
const hoursAgo = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString();

type Gains = { from: string; to: string; total: number; data: routeDeclarations.ScoreGain[] };

const gained = async (hours: number, limit = 100) => {
  const answer = await rig.get(`/score-gains?hours=${String(hours)}&limit=${String(limit)}`);
  expect(answer.status).toBe(200);
  routes.listScoreGains.responses[200].schema.parse(answer.body);
  return answer.body as unknown as Gains;
};
const named = ({ data }: Gains) =>
  data.map(({ id, gain, previous_score, score }) => [id, previous_score, gain, score]);
let events = 0;
/** Events of a lead, each some hours ago; ingest takes them at the time of the last unless told otherwise. */
const happened = (
  lead: string,
  all: readonly [event_type: string, hours: number][],
  takenHoursAgo?: number,
) =>
  ingested(
    lead,
    all.map(([event_type, hours]) => ({
      ...{ id: idOf(`event ${String((events += 1))}`), event_type },
      timestamp: hoursAgo(hours),
    })),
    { received_at: hoursAgo(takenHoursAgo ?? Math.min(...all.map(([, hours]) => hours))) },
  );
const times = (count: number, event: [string, number]) => Array.from({ length: count }, () => event);

test('an organizational unit without leads has no top leads and no gains', async () => {
  expect((await rig.get('/top-leads')).body).toEqual({ data: [], total: 0, page: 1, limit: 25 });
  const { data, total } = await gained(24);
  expect([data, total]).toEqual([[], 0]);
});

test('gains of a day, computed by hand: events of before, late events and imports count at their own time', async () => {
  await rig.score([
    // 30 + 2 two days ago, 30 + 3 within a day.
    happened('ada', [['Call', 48], ...times(2, ['Page View', 47])]),
    happened('ada', [['Call', 5], ...times(3, ['Page View', 2])]),
    // An import of now: 60 three days ago, 1 six hours ago.
    happened(
      'bob',
      [
        ['Call', 72],
        ['Call', 71],
        ['Page View', 6],
      ],
      0,
    ),
    // An event of the past hours that arrives late.
    happened('cy', [['Call', 9]], 0),
    // Nothing within a day.
    happened('dee', [['Call', 80]]),
  ]);
  const day = await gained(24);
  expect(named(day)).toEqual([
    [idOf('ada'), 32, 33, 65],
    [idOf('cy'), 0, 30, 30],
    [idOf('bob'), 60, 1, 61],
  ]);
  expect(day.total).toBe(3);
  expect(Date.parse(day.from) % hourMs).toBe(0);
  const hours = (Date.parse(day.to) - Date.parse(day.from)) / hourMs;
  expect(hours).toBeGreaterThanOrEqual(24);
  expect(hours).toBeLessThan(25);
  expect(named(await gained(7))).toEqual([
    [idOf('ada'), 32, 33, 65],
    [idOf('bob'), 60, 1, 61],
  ]);
  expect(named(await gained(168)).map(([, , gain]) => gain)).toEqual([65, 61, 30, 30]);
  const first = await gained(24, 1);
  expect([named(first).length, first.total]).toEqual([1, 3]);
});

test('the previous score is the one that score-explain gives for the moment before the range', async () => {
  const day = await gained(24);
  const before = new Date(Date.parse(day.from) - 1).toISOString();
  for (const { id, previous_score } of day.data) {
    const { body } = await rig.get(`/lead/${id}/score-explain?at=${before}`);
    expect(body).toMatchObject({ score: previous_score, unattributed: 0 });
  }
});

test('a reset takes the gains of before it back, and what comes after it is a gain from zero', async () => {
  await rig.reset(resetScores('ada', { requested_at: hoursAgo(1) }));
  expect(named(await gained(24)).map(([id]) => id)).not.toContain(idOf('ada'));
  await rig.score([happened('ada', times(4, ['Page View', 0]))]);
  expect(named(await gained(24))).toContainEqual([idOf('ada'), 0, 4, 4]);
});

test('what faded is no gain', async () => {
  await rig.score([
    happened('eve', [['Call', 50]]),
    happened('flo', [
      ['Call', 50],
      ['Page View', 49],
    ]),
  ]);
  await rig.request(createDecay('Daily', { points: -5, interval_days: 2, requested_at: hoursAgo(50) }));
  await eventually('a tick has taken its points', async () => {
    const { body } = await rig.get(`/score/${idOf('eve')}`);
    return body.score === 25;
  });
  await rig.score([happened('eve', times(7, ['Page View', 0])), happened('flo', [['Page View', 0]])]);
  const day = await gained(24);
  // Eve: 30, 5 faded, 7 more. Flo lost more than she gained.
  expect(named(day)).toContainEqual([idOf('eve'), 30, 2, 32]);
  expect(named(day).map(([id]) => id)).not.toContain(idOf('flo'));
});

const crowd = Array.from({ length: 3 * 3 * entriesPerList }, (_, index) => `crowd ${String(index)}`);

test('of more leads than a list holds, in lists that were written and in those that are open, all gains count', async () => {
  for (const half of [crowd.slice(0, 500), crowd.slice(500)])
    await rig.score(half.map((name) => happened(name, [['Page View', 3]], 0)));
  await rig.score(
    crowd.slice(0, 10).map((name, index) => happened(name, times(index + 40, ['Page View', 1]))),
  );
  expect(await rig.readModel.collection(gainLists).countDocuments()).toBeGreaterThan(5);
  const day = await gained(24, 10);
  expect(named(day)).toEqual(
    crowd
      .slice(0, 10)
      .map((name, index) => [idOf(name), 0, index + 41, index + 41])
      .reverse(),
  );
  expect(day.total).toBe(crowd.length + 4);
}, 60_000);

test('a deleted lead leaves no gain and no trace in the lists, and a later lead with its id begins at zero', async () => {
  const gone = [...crowd.slice(3, 200), 'ada'];
  await rig.score(gone.map((name) => deleted(name, { deleted_at: hoursAgo(0) })));
  const day = await gained(24, 10);
  expect(named(day).map(([, , gain]) => gain)).toEqual([43, 42, 41, 30, 2, 1, 1, 1, 1, 1]);
  expect(day.total).toBe(crowd.length - 197 + 3);
  const stored = await rig.documents([gainLists, histograms]);
  const bytes = Object.values(stored)
    .flat()
    .map((document) => {
      const { entries = '', gains = '' } = document as { entries?: string; gains?: string };
      return Buffer.from(entries, 'base64').toString('hex') + Buffer.from(gains, 'base64').toString('hex');
    })
    .join(' ');
  expect(bytes).toContain(idOf(crowd[0] ?? '').replaceAll('-', ''));
  for (const name of gone) expect(bytes).not.toContain(idOf(name).replaceAll('-', ''));
  await rig.score([happened('ada', times(50, ['Page View', 0]))]);
  expect(named(await gained(24, 1))).toEqual([[idOf('ada'), 0, 50, 50]]);
}, 60_000);

test('the top leads are those of GET /leads with a score above 0, by the asked score', async () => {
  const top = await rig.get('/top-leads?limit=3');
  routes.listTopLeads.responses[200].schema.parse(top.body);
  const listed = await rig.get('/leads?limit=3&min_score=1');
  expect(top.body).toEqual({
    data: listed.body.data,
    total: listed.body.total,
    page: 1,
    limit: 3,
  });
  expect((listed.body.data as { id: string }[]).map(({ id }) => id)).toContain(idOf('bob'));
  for (const score_type of ['profile', 'deal', 'account'])
    expect((await rig.get(`/top-leads?score_type=${score_type}`)).body).toMatchObject({ data: [], total: 0 });
});

test('another organizational unit has none of these leads', async () => {
  for (const path of ['/top-leads', '/score-gains'])
    expect((await rig.get(path, { ou: otherOuId })).body).toMatchObject({ data: [], total: 0 });
});

test('a rebuild gives the same documents, and so the same answers', async () => {
  const [documents, before] = [await rig.documents(), named(await gained(24))];
  await rig.rebuild();
  expect(await rig.documents()).toEqual(documents);
  expect(named(await gained(24))).toEqual(before);
}, 60_000);

test('hours beyond what is kept, and limits beyond 100, are 400', async () => {
  for (const query of ['hours=0', 'hours=169', 'hours=1.5', 'limit=101', 'hours=a'])
    expect((await rig.get(`/score-gains?${query}`)).status).toBe(400);
  for (const query of ['limit=0', 'limit=101', 'score_type=other'])
    expect((await rig.get(`/top-leads?${query}`)).status).toBe(400);
});

test('more gains than a question reads are 422, with hours that can be answered', async () => {
  const unit = nameBasedId(ouId, 'a unit with many gains');
  const now = Math.floor(Date.now() / hourMs);
  const at = { partition: 0, offset: 1 };
  const list = (number: number) => ({
    _id: gainListKey(unit, { hour: now - 10, partition: 0, number }),
    entries: new Binary(Buffer.alloc(0), 0),
    ...at,
  });
  const lists = rig.readModel.collection(gainLists);
  for (let from = 0; from <= maximumLists; from += 1_000)
    await lists.insertMany(
      Array.from({ length: Math.min(1_000, maximumLists + 1 - from) }, (_, index) => list(from + index)),
    );
  await rig.readModel.collection(histograms).insertOne({
    ...{ _id: uuidToBinary(idOf('statistics')), ou: uuidToBinary(unit), leads: 0, buckets: '[]' },
    ...{ alias_kinds: [], gain_lists: maximumLists + 1, gain_hour: now - 10, ...at },
  });
  const refused = await rig.get('/score-gains?hours=24', { ou: unit });
  expect(refused).toMatchObject({ status: 422, body: { code: 'too_many_gains' } });
  const hours = /Ask for at most (\d+)\./.exec(refused.body.detail as string)?.[1] ?? '';
  expect(Number(hours)).toBeGreaterThan(3);
  expect((await rig.get(`/score-gains?hours=${hours}`, { ou: unit })).status).toBe(200);
}, 60_000);
