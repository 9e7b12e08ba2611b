// Lists of leads by profile score on real servers: order, bounds, levels, pages, cursors and totals, also after leads are deleted.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes, type routeDeclarations } from '@lead-scoring/contracts';
import {
  addMapping,
  createProfileRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  otherOuId,
  setLevels,
} from '../testing/builders.js';
import { createFilter } from '../testing/filter-builders.js';
import { startRig, type Rig } from '../testing/rig.js';

type Page = { data: routeDeclarations.Lead[]; total: number; next_cursor?: string };

let rig: Rig;
/** Profile points by title; all others have 0. */
const points: Record<string, number> = { Head: 30, VP: 20, Intern: -10 };
const titles = ['Head', 'VP', 'VP', 'Clerk', 'Intern', null, 'Clerk', 'Head', null, 'Intern', 'Clerk'];
const profileOf = (nth: number) => points[titles[nth] ?? ''] ?? 0;
const nameOf = (nth: number) => `lead${String(nth)}`;

beforeAll(async () => {
  rig = await startRig({ partitions: 2 });
  await rig.request(createRuleset('Fit', { score_type: 'profile' }));
  await rig.request(createRule('view', { weight: 1 }));
  await rig.request(addMapping('seniority', 'seniority', 'metadata.title'));
  for (const [title, weight] of Object.entries(points))
    await rig.request(
      createProfileRule(title, [{ field: 'seniority', operator: 'equals', value: title }], { weight }),
    );
  await rig.score(
    titles.map((title, nth) =>
      ingested(
        nameOf(nth),
        Array.from({ length: nth + 1 }, () => (title === null ? {} : { metadata: { title } })),
      ),
    ),
  );
}, 120_000);

afterAll(() => rig.stop(), 60_000);

const list = async (query: string): Promise<Page> => {
  const { status, body } = await rig.get(`/leads?score_type=profile&${query}`);
  expect(status).toBe(200);
  return routes.listLeads.responses[200].schema.parse(body) as Page;
};
const scoresIn = ({ data }: Page) => data.map(({ scores }) => scores.profile);
const whole = titles.map((_, nth) => ({ id: idOf(nameOf(nth)), score: profileOf(nth) }));
/** The ids in the order of the profile scores, of one score in that of the ids. */
const sorted = (all = whole) =>
  all.toSorted((a, b) => a.score - b.score || (a.id < b.id ? -1 : 1)).map(({ id }) => id);

describe('GET /leads?score_type=profile', () => {
  test('lists all leads, those without a profile as 0, in both directions and with the total', async () => {
    const up = await list('sort=score');
    expect(up.data.map(({ id }) => id)).toEqual(sorted());
    expect(up.total).toBe(titles.length);
    const down = await list('');
    expect(down.data.map(({ id }) => id)).toEqual(sorted().reverse());
    expect(scoresIn(down)).toEqual([30, 30, 20, 20, 0, 0, 0, 0, 0, -10, -10]);
  });

  test.each([1, 2, 3, 4, 7])('has the same leads page by page and by cursor, %d at a time', async (limit) => {
    for (const sort of ['score', '-score']) {
      const expected = sort === 'score' ? sorted() : sorted().reverse();
      const [byPage, byCursor]: [string[], string[]] = [[], []];
      let cursor = '';
      for (let page = 1; page <= Math.ceil(titles.length / limit); page += 1) {
        const { data, total } = await list(`sort=${sort}&limit=${String(limit)}&page=${String(page)}`);
        expect(total).toBe(titles.length);
        byPage.push(...data.map(({ id }) => id));
        const next = await list(`sort=${sort}&limit=${String(limit)}${cursor}`);
        byCursor.push(...next.data.map(({ id }) => id));
        cursor = `&cursor=${next.next_cursor ?? ''}`;
      }
      expect(byPage).toEqual(expected);
      expect(byCursor).toEqual(expected);
      expect(cursor).toBe('&cursor=');
    }
  });

  test.each([
    ['min_score=20', [30, 30, 20, 20]],
    ['max_score=-1', [-10, -10]],
    ['min_score=0&max_score=0', [0, 0, 0, 0, 0]],
    ['min_score=-10&max_score=19&limit=3&page=2', [0, 0, -10]],
    ['min_score=1&max_score=19', []],
    ['q=lead1', [20, 0]],
    ['q=lead1&min_score=1', [20]],
  ])('%s bounds the profile scores', async (query, expected) => {
    expect(scoresIn(await list(query))).toEqual(expected);
  });

  test('orders the leads of a text and of a filter by their profile scores, by page and by cursor', async () => {
    await rig.request(
      createFilter('Active', {
        conditions: {
          all: [
            { field: 'event_count', operator: 'gte', value: 5 },
            { field: 'scores.profile', operator: 'lt', value: 30 },
          ],
        },
      }),
    );
    const query = `filter_id=${idOf('Active')}&limit=4`;
    const first = await list(query);
    expect([scoresIn(first), first.total]).toEqual([[0, 0, 0, 0], 6]);
    expect(scoresIn(await list(`${query}&cursor=${first.next_cursor ?? ''}`))).toEqual([-10, -10]);
    expect(await rig.get(`/leads?${query}&cursor=${first.next_cursor ?? ''}`)).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
  });

  test('takes a profile level, and 404 for an engagement level', async () => {
    await rig.request(setLevels([['Hot', 5, null]]));
    await rig.request({
      type: 'SetProfileLevels',
      payload: setLevels([
        ['Poor fit', null, 19],
        ['Good fit', 20, null],
      ]).payload,
    });
    expect(scoresIn(await list('level=good%20fit'))).toEqual([30, 30, 20, 20]);
    expect(await rig.get('/leads?score_type=profile&level=Hot')).toMatchObject({
      status: 404,
      body: { code: 'level_not_found', detail: expect.stringContaining('/profile-scoring/levels') },
    });
    expect(await rig.get('/leads?score_type=nonsense')).toMatchObject({ status: 400 });
    expect(await rig.get(`/score/${idOf('lead1')}?score_type=profile`)).toMatchObject({
      status: 200,
      body: { score_type: 'profile', score: 20, level: { name: 'Good fit' }, scores: { engagement: 2 } },
    });
    expect((await rig.get(`/score/${idOf('lead1')}`)).body).not.toHaveProperty('score_type');
  });

  test('counts leads that change their profile and leads that are deleted, and none of another OU', async () => {
    await rig.score([ingested('lead1', [{ id: idOf('promoted'), metadata: { title: 'Head' } }])]);
    await rig.score([deleted('lead0')]);
    const now = await list('min_score=20');
    expect([scoresIn(now), now.total]).toEqual([[30, 30, 20], 3]);
    expect((await list('')).total).toBe(titles.length - 1);
    const { body } = await rig.get('/leads?score_type=profile', { ou: otherOuId });
    expect(body).toMatchObject({ total: 0, data: [] });
  });

  test('is the same after a rebuild', async () => {
    const before = await list('');
    await rig.rebuild();
    expect(await list('')).toEqual(before);
  }, 120_000);
});
