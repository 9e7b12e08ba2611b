// Lists of leads by the scores of their accounts, on real servers: the order, its pages and its bounds.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accountIdOf, routes, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  createAccountRule,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  otherOuId,
  ouId,
  setRollUp,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

/** A generator of numbers from 0 to below 1, the same in every run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const random = numbersFrom(7);
const below = (bound: number) => Math.floor(random() * bound);

/** Companies by the rules that they meet: those named minus end below 0, and those named nil at 0. */
const companies = Array.from(
  { length: 45 },
  (_, nth) => `${['plus', 'nil', 'minus'][nth % 3] ?? ''}${String(nth)}.com`,
);
const pointsOfName = { plus: 0, nil: -2, minus: -30 };
const freeMail = 'gmail.com';
const leadsOf = Array.from({ length: 320 }, (_, nth) => {
  const domain = random() < 0.2 ? freeMail : (companies[below(companies.length)] ?? '');
  return { name: `lead${String(nth)}`, domain, views: domain.startsWith('nil') ? 2 : 1 + below(3) };
});

const accountIn = (domain: string) => accountIdOf(ouId, { account_kind: 'domain', account_key: domain });
const scoreIn = (domain: string, leads = leadsOf) => {
  const points = Object.entries(pointsOfName).find(([name]) => domain.startsWith(name))?.[1] ?? 0;
  return points + Math.max(...leads.filter((lead) => lead.domain === domain).map(({ views }) => views));
};

/** A fresh sort of the leads that have an account: by account score, then by account, then by lead. */
function sorted(leads = leadsOf): { id: string; score: number }[] {
  return leads
    .filter(({ domain }) => domain !== freeMail)
    .map(({ name, domain }) => ({
      id: idOf(name),
      account: accountIn(domain),
      score: scoreIn(domain, leads),
    }))
    .sort(
      (one, other) =>
        one.score - other.score ||
        (one.account === other.account ? (one.id < other.id ? -1 : 1) : one.account < other.account ? -1 : 1),
    )
    .map(({ id, score }) => ({ id, score }));
}

type Page = { data: routeDeclarations.Lead[]; total: number; next_cursor?: string };

let rig: Rig;
const list = async (query: string): Promise<Page> => {
  const { status, body } = await rig.get(`/leads?score_type=account&${query}`);
  expect(status).toBe(200);
  return routes.listLeads.responses[200].schema.parse(body) as Page;
};
const placesIn = ({ data }: Page) => data.map(({ id, scores }) => ({ id, score: scores.account ?? 0 }));

/** All leads of a list by cursor. */
async function listAll(query: string): Promise<{ id: string; score: number }[]> {
  const found: { id: string; score: number }[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page: Page = await list(`${query}${cursor && `&cursor=${cursor}`}`);
    found.push(...placesIn(page));
    cursor = page.next_cursor;
  }
  return found;
}

beforeAll(async () => {
  rig = await startRig({ partitions: 2 });
  await rig.request(createRule('view', { weight: 1 }));
  await rig.request(createRuleset('Companies', { score_type: 'account' }));
  await rig.request(setRollUp('max'));
  for (const [name, weight] of Object.entries(pointsOfName))
    if (weight !== 0)
      await rig.request(
        createAccountRule(name, [{ field: 'key', operator: 'contains', value: name }], { weight }),
      );
  await rig.score(
    leadsOf.map(({ name, domain, views }) =>
      ingested(
        name,
        Array.from({ length: views }, () => ({})),
        {
          aliases: [{ alias_kind: 'email', alias: `${name}@${domain}` }],
        },
      ),
    ),
  );
  await eventually('the scores of all accounts', async () => {
    expect(await listAll('sort=score&limit=100')).toEqual(sorted());
    return true;
  });
}, 240_000);

afterAll(() => rig.stop(), 60_000);

describe('GET /leads?score_type=account', () => {
  test.each([1, 7, 60, 100])(
    'equals a fresh sort by cursor in both directions, %d at a time',
    async (limit) => {
      const shown = limit === 1 ? 'min_score=3&' : '';
      const expected = sorted().filter(({ score }) => limit > 1 || score >= 3);
      expect(await listAll(`${shown}sort=score&limit=${String(limit)}`)).toEqual(expected);
      expect(await listAll(`${shown}sort=-score&limit=${String(limit)}`)).toEqual(expected.toReversed());
    },
    120_000,
  );

  test.each(['score', '-score'])('equals a fresh sort page by page with sort=%s', async (sort) => {
    const expected = sort === 'score' ? sorted() : sorted().reverse();
    const found = [];
    for (let page = 1; page <= Math.ceil(expected.length / 45); page += 1) {
      const one = await list(`sort=${sort}&limit=45&page=${String(page)}`);
      expect(one.total).toBe(expected.length);
      found.push(...placesIn(one));
    }
    expect(found).toEqual(expected);
    expect(await list(`sort=${sort}&limit=45&page=9`)).toMatchObject({ data: [], total: expected.length });
  });

  test.each([
    ['min_score=1', 1, Infinity],
    ['max_score=-1', -Infinity, -1],
    ['min_score=0&max_score=0', 0, 0],
    ['min_score=-28&max_score=1', -28, 1],
    ['min_score=100', 100, Infinity],
  ])('%s bounds the account scores', async (query, low, high) => {
    const expected = sorted().filter(({ score }) => low <= score && score <= high);
    expect(await listAll(`${query}&sort=score&limit=50`)).toEqual(expected);
    expect((await list(query)).total).toBe(expected.length);
  });

  test.each(['level=Hot', 'grid=A1', `owner=Ada`, 'q=lead', `filter_id=${idOf('filter')}`, 'sort=name'])(
    'refuses %s with the reason',
    async (query) => {
      expect(await rig.get(`/leads?score_type=account&${query}`)).toMatchObject({
        status: 400,
        body: {
          errors: [
            { path: `query.${query.split('=')[0] ?? ''}`, message: expect.stringContaining('account') },
          ],
        },
      });
    },
  );

  test('takes cursors of this list and direction alone, and shows another OU nothing', async () => {
    const { next_cursor = '' } = await list('limit=5');
    for (const query of [
      `score_type=account&sort=score&cursor=${next_cursor}`,
      `score_type=profile&cursor=${next_cursor}`,
    ])
      expect(await rig.get(`/leads?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_cursor' },
      });
    expect((await rig.get('/leads?score_type=account', { ou: otherOuId })).body).toMatchObject({
      total: 0,
      data: [],
    });
  });

  test('follows accounts whose scores change, and leads that are deleted', async () => {
    const [gone, ...left] = leadsOf;
    await rig.score([deleted(gone?.name ?? '')]);
    await eventually('the list without the lead', async () => {
      expect(await listAll('limit=100')).toEqual(sorted(left).reverse());
      return true;
    });
    expect((await list('')).total).toBe(sorted(left).length);
  });

  test('is the same after a rebuild', async () => {
    const before = await listAll('limit=100');
    await rig.rebuild();
    expect(await listAll('limit=100')).toEqual(before);
  }, 120_000);
});
