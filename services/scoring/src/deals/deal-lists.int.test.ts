// Deal scores of leads on real servers: the list, the score and the explanation of a lead, after a few hundred random deals, deletions
// and a rebuild.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes, type JsonObject, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  at,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  otherOuId,
  ouId,
} from '../testing/builders.js';
import { createDealRule, isLarge, isWon, naming } from '../testing/deal-builders.js';
import { startRig, type Rig } from '../testing/rig.js';

type Page = { data: routeDeclarations.Lead[]; total: number; next_cursor?: string };

let rig: Rig;
const leadCount = 24;
const dealCount = 300;
const nameOf = (nth: number) => `lead${String(nth)}`;
/** The points of each deal, and the leads that name it. */
const deals = new Map<string, { points: number; leads: Set<number> }>();

/** Numbers that look random, and are the same in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

const below = randomNumbers(7);
/** What a lead says: the lead's number, and a deal with all of its fields. */
const said = Array.from({ length: 900 }, (_, nth) => {
  const id = `D-${String(below(dealCount))}`;
  const [stage, amount] = [['won', 'lost', 'open'][below(3)] ?? '', below(2) * 20_000];
  // The last two leads name no deal.
  return { lead: below(leadCount - 2), deal: { id, stage, amount }, minute: nth };
});
for (const { lead, deal } of said) {
  const leads = deals.get(deal.id)?.leads ?? new Set<number>();
  const points =
    (deal.stage === 'won' ? 50 : 0) + (deal.stage === 'lost' ? -70 : 0) + (deal.amount > 10_000 ? 30 : 0);
  deals.set(deal.id, { points, leads: leads.add(lead) });
}
const computed = (lead: number) =>
  [...deals.values()].reduce((sum, { points, leads }) => sum + (leads.has(lead) ? points : 0), 0);

beforeAll(async () => {
  rig = await startRig({ partitions: 3 });
  await rig.request(createRuleset('Deals', { score_type: 'deal' }));
  await rig.request(createRule('view', { weight: 1 }));
  await rig.request(createDealRule('won', isWon, { weight: 50, label: 'Won deal' }));
  await rig.request(
    createDealRule('lost', [{ field: 'stage', operator: 'equals', value: 'lost' }], { weight: -70 }),
  );
  await rig.request(createDealRule('large', isLarge, { weight: 30 }));
  for (let from = 0; from < said.length; from += 300)
    await rig.score([
      ...Array.from({ length: from === 0 ? leadCount : 0 }, (_, nth) => ingested(nameOf(nth), [{}])),
      ...said.slice(from, from + 300).map(({ lead, deal, minute }) =>
        naming(nameOf(lead), [deal], {
          timestamp: new Date(Date.UTC(2026, 0, 2, 0, minute)).toISOString(),
        }),
      ),
    ]);
}, 120_000);
afterAll(() => rig.stop(), 60_000);

const list = async (query: string): Promise<Page> => {
  const { status, body } = await rig.get(`/leads?score_type=deal&${query}`);
  expect(status).toBe(200);
  return routes.listLeads.responses[200].schema.parse(body) as Page;
};
const scoresIn = ({ data }: Page) => data.map(({ scores }) => scores.deal);
const present = Array.from({ length: leadCount }, (_, nth) => nth);
const sorted = (all: readonly number[]) =>
  all
    .map((nth) => ({ id: idOf(nameOf(nth)), score: computed(nth) }))
    .toSorted((a, b) => a.score - b.score || (a.id < b.id ? -1 : 1));

/** The list, once it is as expected: deal scores follow within moments. */
const listed = (query: string, expected: readonly { id: string; score: number }[]) =>
  eventually(`the list ${query} is as expected`, async () => {
    const { data, total } = await list(query);
    expect(data.map(({ id, scores }) => ({ id, score: scores.deal }))).toEqual(expected);
    return { total };
  });

describe('GET /leads?score_type=deal', () => {
  test('is the order of a fresh computation from all deals, in both directions and with the total', async () => {
    expect(deals.size).toBeGreaterThan(250);
    expect(await listed('sort=score&limit=100', sorted(present))).toEqual({ total: leadCount });
    expect(await listed('limit=100', sorted(present).reverse())).toEqual({ total: leadCount });
  });

  test('has the same leads page by page and by cursor', async () => {
    for (const sort of ['score', '-score']) {
      const expected = sort === 'score' ? sorted(present) : sorted(present).reverse();
      const [byPage, byCursor]: [string[], string[]] = [[], []];
      let cursor = '';
      for (let page = 1; page <= Math.ceil(leadCount / 5); page += 1) {
        byPage.push(...(await list(`sort=${sort}&limit=5&page=${String(page)}`)).data.map(({ id }) => id));
        const next = await list(`sort=${sort}&limit=5${cursor}`);
        byCursor.push(...next.data.map(({ id }) => id));
        cursor = `&cursor=${next.next_cursor ?? ''}`;
      }
      expect([byPage, byCursor]).toEqual([expected.map(({ id }) => id), expected.map(({ id }) => id)]);
      expect(cursor).toBe('&cursor=');
    }
  });

  test('takes bounds, a text and no level, and its cursors are of no other list', async () => {
    const inRange = (low: number, high: number) =>
      sorted(present)
        .reverse()
        .map(({ score }) => score)
        .filter((score) => low <= score && score <= high);
    for (const [low, high] of [
      [0, 0],
      [1, 10_000],
      [-10_000, -1],
      [-100, 100],
    ] as const) {
      const bounds = `min_score=${String(low)}&max_score=${String(high)}`;
      expect(scoresIn(await list(`${bounds}&limit=100`))).toEqual(inRange(low, high));
      expect(scoresIn(await list(`${bounds}&q=lead&limit=100`))).toEqual(inRange(low, high));
    }
    const { next_cursor = '' } = await list('limit=2');
    for (const query of [`score_type=profile&cursor=${next_cursor}`, `cursor=${next_cursor}`])
      expect((await rig.get(`/leads?${query}`)).body).toMatchObject({ code: 'invalid_cursor' });
    expect(await rig.get('/leads?score_type=deal&level=Hot')).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        errors: [{ path: 'query.level', message: expect.stringContaining('must be absent') }],
      },
    });
    expect(await rig.get('/leads?score_type=deal', { ou: otherOuId })).toMatchObject({
      body: { total: 0, data: [] },
    });
  });
});

test('lists by text and by grid, few and many leads alike, have the same order page by page and by cursor', async () => {
  await rig.request({
    type: 'SetScoringGrid',
    payload: {
      ou_id: ouId,
      // Every lead is in D4.
      grid: { profile: { A: 20, B: 10, C: 5 }, engagement: { 1: 5_000, 2: 3_000, 3: 2_000 } },
      requested_at: at,
    },
  });
  const ids = (all: readonly { id: string; score: number }[]) => all.map(({ id }) => id);
  for (const which of ['q=lead', 'grid=D4'])
    for (const sort of ['score', '-score'])
      for (const [low, high] of [
        [-10_000, 10_000],
        [-10_000, 0],
        [0, 10_000],
      ] as const) {
        const within = sorted(present).filter(({ score }) => low <= score && score <= high);
        const expected = ids(sort === 'score' ? within : within.toReversed());
        const query = `${which}&sort=${sort}&min_score=${String(low)}&max_score=${String(high)}&limit=5`;
        const [byPage, byCursor]: [string[], string[]] = [[], []];
        let cursor = '';
        for (let page = 1; page <= Math.ceil(expected.length / 5); page += 1) {
          const found = await list(`${query}&page=${String(page)}`);
          expect(found.total).toBe(expected.length);
          byPage.push(...found.data.map(({ id }) => id));
          const next = await list(`${query}${cursor}`);
          byCursor.push(...next.data.map(({ id }) => id));
          cursor = `&cursor=${next.next_cursor ?? ''}`;
        }
        expect([byPage, byCursor, cursor]).toEqual([expected, expected, '&cursor=']);
      }
});

test('a lead without points of deals has no field and no rank for them', async () => {
  const { leads: stored = [], deal_ranks: ranks = [] } = (await rig.documents()) as Record<
    string,
    Record<string, unknown>[]
  >;
  expect(stored).toHaveLength(leadCount);
  const without = stored.filter(({ deals: named }) => named === undefined);
  expect(without).toHaveLength(2);
  for (const lead of without)
    expect(Object.keys(lead).filter((field) => field.startsWith('deal'))).toEqual([]);
  const withScore = stored.filter(({ deal_score }) => deal_score !== undefined);
  expect(withScore.map(({ deal_score }) => deal_score)).not.toContain(0);
  expect(ranks.map(({ _id }) => _id).sort()).toEqual(withScore.map(({ _id }) => _id).sort());
});

test('GET /score/{leadID}?score_type=deal is the sum, and of another OU 404', async () => {
  const path = `/score/${idOf(nameOf(3))}?score_type=deal`;
  const { body } = await rig.get(path);
  expect(routes.getScore.responses[200].schema.parse(body)).toMatchObject({
    score_type: 'deal',
    score: computed(3),
    scores: { deal: computed(3) },
    level: null,
  });
  expect((await rig.get(path, { ou: otherOuId })).status).toBe(404);
});

test('GET /lead/{leadID}/score-explain?score_type=deal has the decisions of the deals, and nothing is left over', async () => {
  for (const nth of present) {
    const { status, body } = await rig.get(
      `/lead/${idOf(nameOf(nth))}/score-explain?score_type=deal&range_hours=876000`,
    );
    expect(status).toBe(200);
    const explained = routes.explainScore.responses[200].schema.parse(body);
    expect(explained).toMatchObject({
      score_type: 'deal',
      score: computed(nth),
      unattributed: 0,
      level: null,
    });
    const entries = explained.deal_entries ?? [];
    expect(entries.reduce((sum, { points }) => sum + points, 0)).toBe(computed(nth));
    for (const { deal_id, words } of entries) expect(words).toContain(deal_id);
  }
  const path = `/lead/${idOf(nameOf(3))}/score-explain?score_type=deal`;
  const { body } = await rig.get(path);
  expect(JSON.stringify(body)).toContain('Won deal');
  expect((await rig.get(`/lead/${idOf(nameOf(3))}/score-explain`)).body).toMatchObject({ unattributed: 0 });
  expect((await rig.get(path, { ou: otherOuId })).status).toBe(404);
});

test('an event that repeats what a deal is makes no decision on a lead', async () => {
  const count = async () =>
    (await rig.recordsOn('scoring.events')).filter(
      ({ type, payload }) => type === 'ScoreAdjusted' && (payload as JsonObject).score_type === 'deal',
    ).length;
  const before = await count();
  const last = said.at(-1);
  if (!last) throw new Error('there is one');
  await rig.score([
    naming(nameOf(last.lead), [{ id: last.deal.id }], { timestamp: '2026-02-01T00:00:00.000Z' }),
  ]);
  await rig.score([naming('newcomer', [{ id: 'D-new', stage: 'won' }])]);
  await eventually('the newcomer is told', async () => (await count()) === before + 1);
  await rig.score([deleted('newcomer')]);
});

test('a deleted lead leaves nothing of its deal score, and the lists and totals are those of the others', async () => {
  const gone = sorted(present).at(-1)?.id;
  const nth = present.find((one) => idOf(nameOf(one)) === gone) ?? 0;
  await rig.score([deleted(nameOf(nth))]);
  for (const deal of deals.values()) deal.leads.delete(nth);
  const others = present.filter((one) => one !== nth);
  expect(await listed('sort=score&limit=100', sorted(others))).toEqual({ total: others.length });
  const { total } = await list('min_score=1');
  expect(total).toBe(sorted(others).filter(({ score }) => score > 0).length);
});

test('a rebuild gives the same documents', async () => {
  const live = await rig.documents();
  await rig.rebuild();
  expect(await rig.documents()).toEqual(live);
}, 120_000);
