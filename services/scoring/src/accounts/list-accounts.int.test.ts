// Lists of accounts on real servers: each order, its pages, its bounds and its conditions equal a fresh sort.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accountIdOf, routes, type AccountKind, type routeDeclarations } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  createRule,
  deleted,
  idOf,
  ingested,
  otherOuId,
  ouId,
  setAccountLevels,
  setRollUp,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';

/** Accounts whose leads, scores, names and latest events differ in different orders. */
const companies = Array.from({ length: 130 }, (_, nth) => {
  const account_kind: AccountKind = nth % 4 === 0 ? 'named' : 'domain';
  const account_key =
    account_kind === 'named' ? `Key ${String(nth)}` : `company${String((nth * 37) % 1_000)}.com`;
  return {
    ...{ account_kind, account_key, id: accountIdOf(ouId, { account_kind, account_key }) },
    leads: 1 + (nth % 3),
    views: 1 + ((nth * 7) % 23),
    day: 1 + ((nth * 11) % 28),
    name: nth % 5 === 0 ? `Name ${String((nth * 13) % 97)}` : account_key,
  };
});
type Company = (typeof companies)[number];

const timeOf = ({ day }: Company) => `2026-01-${String(day).padStart(2, '0')}T10:00:00.000Z`;
/** Each lead has its views; all but the last have them on the first of January. */
const scoreOf = ({ leads, views }: Company) => leads * views;
const leadNamed = (company: Company, nth: number) => `lead ${String(nth)} of ${company.account_key}`;

const keys = {
  score: scoreOf,
  leads: ({ leads }: Company) => leads,
  last_activity_at: timeOf,
  name: ({ name }: Company) => name.toLowerCase(),
};
type Sort = keyof typeof keys;

function sorted(sort: string, all: readonly Company[] = companies): string[] {
  const keyOf = keys[sort.replace('-', '') as Sort];
  const step = sort.startsWith('-') ? -1 : 1;
  return [...all]
    .sort((one, other) => {
      const [a, b] = [keyOf(one), keyOf(other)];
      return step * (a < b || (a === b && one.id < other.id) ? -1 : 1);
    })
    .map(({ id }) => id);
}

let rig: Rig;
type Page = { data: routeDeclarations.Account[]; total: number; next_cursor?: string };
const list = async (query: string): Promise<Page> => {
  const { status, body } = await rig.get(`/accounts?${query}`);
  expect(status).toBe(200);
  return routes.listAccounts.responses[200].schema.parse(body) as Page;
};
const idsIn = ({ data }: Page) => data.map(({ id }) => id);

async function listAll(query: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page: Page = await list(`${query}${cursor && `&cursor=${cursor}`}`);
    found.push(...idsIn(page));
    cursor = page.next_cursor;
  }
  return found;
}

beforeAll(async () => {
  rig = await startRig({ partitions: 3 });
  await rig.request(createRule('view', { weight: 1 }));
  await rig.request(setRollUp('sum'));
  await rig.score(
    companies.flatMap((company) =>
      Array.from({ length: company.leads }, (_, nth) => {
        const { account_kind, account_key, name, views, leads } = company;
        const account = { [account_kind === 'named' ? 'id' : 'domain']: account_key, name };
        const metadata = { account: name === account_key ? account_key : account };
        const timestamp = nth === leads - 1 ? timeOf(company) : '2026-01-01T10:00:00.000Z';
        return ingested(
          leadNamed(company, nth),
          Array.from({ length: views }, (__, index) => ({
            ...{ id: idOf(`${account_key} ${String(nth)} ${String(index)}`), timestamp, metadata },
          })),
          {
            aliases: [{ alias_kind: 'cookie', alias: leadNamed(company, nth) }],
            received_at: '2026-02-01T10:00:00.000Z',
          },
        );
      }),
    ),
  );
  await eventually('all accounts', async () => {
    expect(await listAll('sort=score&limit=100')).toEqual(sorted('score'));
    return true;
  });
}, 240_000);
afterAll(() => rig.stop(), 60_000);

const sorts = Object.keys(keys).flatMap((sort) => [sort, `-${sort}`]);

describe('GET /accounts', () => {
  test.each(sorts)('equals a fresh sort with sort=%s, by cursor and page by page', async (sort) => {
    const expected = sorted(sort);
    expect(await listAll(`sort=${sort}&limit=17`)).toEqual(expected);
    const paged: string[] = [];
    for (let page = 1; page <= 4; page += 1) {
      const one = await list(`sort=${sort}&limit=40&page=${String(page)}`);
      expect(one.total).toBe(companies.length);
      paged.push(...idsIn(one));
    }
    expect(paged).toEqual(expected);
    expect(await list(`sort=${sort}&limit=40&page=5`)).toMatchObject({ data: [], total: companies.length });
  });

  test.each<[string, (company: Company) => boolean]>([
    ['min_score=20&max_score=40', (company) => scoreOf(company) >= 20 && scoreOf(company) <= 40],
    ['min_score=1000', () => false],
    ['min_leads=3', ({ leads }) => leads >= 3],
    ['account_kind=named', ({ account_kind }) => account_kind === 'named'],
    ['active_since=2026-01-20', (company) => timeOf(company) >= '2026-01-20'],
    ['q=NAME%201', ({ name }) => name.startsWith('Name 1')],
    ['q=.com', ({ account_key }) => account_key.endsWith('.com')],
    [
      'min_score=20&account_kind=domain&min_leads=2',
      (company) => scoreOf(company) >= 20 && company.account_kind === 'domain' && company.leads >= 2,
    ],
  ])('%s has the accounts that meet it, in any order', async (query, meets) => {
    const expected = companies.filter(meets);
    for (const sort of ['-score', 'score', 'name']) {
      expect(await listAll(`${query}&sort=${sort}&limit=9`)).toEqual(sorted(sort, expected));
      expect((await list(`${query}&sort=${sort}`)).total).toBe(expected.length);
    }
  });

  test('has the level of each score, by the account levels of now, and lists the accounts of one', async () => {
    const levels = [
      ['Small', null, 19],
      ['Large', 20, 40],
    ] as const;
    const reply = await rig.request(setAccountLevels(levels.map(([...level]) => level)));
    expect(reply).toMatchObject({ outcome: 'done' });
    expect((await rig.get('/account-scoring/levels')).body).toEqual((reply as { result: unknown }).result);
    expect((await rig.get('/account-scoring/levels', { ou: otherOuId })).body).toEqual({ levels: [] });
    for (const { score, level } of (await list('limit=100')).data)
      expect(level?.name).toBe(score < 20 ? 'Small' : score <= 40 ? 'Large' : undefined);
    const large = companies.filter((company) => scoreOf(company) >= 20 && scoreOf(company) <= 40);
    expect(await listAll('level=large&limit=9')).toEqual(sorted('-score', large));
    expect(await listAll('level=large&min_score=30&sort=name&limit=9')).toEqual(
      sorted(
        'name',
        large.filter((company) => scoreOf(company) >= 30),
      ),
    );
    expect(await list('level=small&min_score=20')).toMatchObject({ data: [], total: 0 });
    expect(await rig.get('/accounts?level=Other')).toMatchObject({
      status: 404,
      body: { code: 'level_not_found' },
    });
    const [company] = large;
    if (!company) throw new Error('there are such companies');
    expect((await rig.get(`/accounts/${company.id}`)).body).toMatchObject({ level: { name: 'Large' } });
    const lead = idOf(leadNamed(company, 0));
    for (const path of [
      `/score/${lead}?score_type=account`,
      `/lead/${lead}/score-explain?score_type=account`,
    ])
      expect((await rig.get(path)).body).toMatchObject({ level: { name: 'Large' } });
  });

  test('has the latest activity of the leads of each account', async () => {
    const [company] = companies;
    if (!company) throw new Error('there are companies');
    expect((await rig.get(`/accounts/${company.id}`)).body).toMatchObject({
      last_activity_at: timeOf(company),
      leads: company.leads,
      score: scoreOf(company),
      unattributed: 0,
    });
  });

  test('takes cursors of this order alone, and shows another organizational unit nothing', async () => {
    for (const sort of sorts) {
      const { next_cursor = '' } = await list(`sort=${sort}&limit=5`);
      for (const other of sorts.filter((one) => one !== sort))
        expect(await rig.get(`/accounts?sort=${other}&cursor=${next_cursor}`)).toMatchObject({
          status: 400,
          body: { code: 'invalid_cursor' },
        });
    }
    expect((await rig.get('/accounts', { ou: otherOuId })).body).toMatchObject({ data: [], total: 0 });
  });

  test('follows leads that are deleted: an account without leads is gone', async () => {
    const [alone] = companies.filter(({ leads }) => leads === 1);
    const [two] = companies.filter(({ leads }) => leads === 2);
    if (!alone || !two) throw new Error('there are such companies');
    await rig.score([deleted(leadNamed(alone, 0)), deleted(leadNamed(two, 0))]);
    const left = companies
      .filter((company) => company !== alone)
      .map((company) => (company === two ? { ...two, leads: 1 } : company));
    await eventually('the list without the account', async () => {
      expect(await listAll('limit=100')).toEqual(sorted('-score', left));
      return true;
    });
    expect((await list('limit=1')).total).toBe(left.length);
    const leads = left.reduce((sum, company) => sum + company.leads, 0);
    expect((await rig.get('/leads?score_type=account&limit=1')).body).toMatchObject({ total: leads });
  });

  test('is the same after a rebuild, and so are the documents', async () => {
    const [before, documents] = [await listAll('limit=100'), await rig.documents()];
    await rig.rebuild();
    expect(await listAll('limit=100')).toEqual(before);
    expect(await rig.documents()).toEqual(documents);
  }, 120_000);
});
