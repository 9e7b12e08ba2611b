// Account scoring on real servers: configured by commands, contributed to by leads of every partition, and read through the query
// port.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accountIdOf, routes, type JsonObject } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  createAccountRule,
  createRule,
  createRuleset,
  deleted,
  deleteRule,
  idOf,
  ingested,
  otherOuId,
  ouId,
  resetScores,
  setAccountRulesActive,
  setRollUp,
  updateRule,
  updateRuleset,
} from '../testing/builders.js';
import { startRig, type Rig } from '../testing/rig.js';
import { accountLeads, accounts } from './documents.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRule('view', { weight: 5 }));
  await rig.request(createRuleset('Companies', { score_type: 'account' }));
  await rig.request(
    createAccountRule('several', [{ field: 'leads', operator: 'gte', value: 2 }], {
      label: 'Several people',
    }),
  );
  await rig.request(
    createAccountRule('software', [{ field: 'industry', operator: 'equals', value: 'software' }], {
      weight: 7,
    }),
  );
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

const accountOf = (account_key: string, account_kind: 'domain' | 'named' = 'domain') =>
  accountIdOf(ouId, { account_kind, account_key });

/** Page views of a lead of a company, each with this metadata. */
const views = (lead: string, domain: string, ...metadata: JsonObject[]) =>
  ingested(
    lead,
    metadata.map((given, index) => ({
      id: idOf(`${lead} ${JSON.stringify(given)} ${String(index)}`),
      metadata: given,
    })),
    { aliases: [{ alias_kind: 'email', alias: `${lead}@${domain}` }] },
  );

const accountWith = (id: string, expected: object) =>
  eventually(`account ${id}`, async () => {
    const answer = await rig.get(`/accounts/${id}`);
    expect(answer).toMatchObject({ status: 200, body: expected });
    return routes.getAccount.responses[200].schema.parse(answer.body);
  });

const gone = (id: string) =>
  eventually(`account ${id} to be gone`, async () => {
    expect(await rig.get(`/accounts/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'account_not_found' },
    });
    return true;
  });

const acme = accountOf('acme.com');

describe('an account', () => {
  test('has the scores of its leads and the points of its rules, with the reasons', async () => {
    await rig.score([
      views('ada', 'acme.com', {}, {}),
      views('bob', 'mail.acme.com', {
        account: { domain: 'acme.com', name: 'Acme Engines', industry: 'Software' },
      }),
      views('free', 'gmail.com', {}),
    ]);
    const account = await accountWith(acme, { score: 42, leads: 2 });
    expect(account).toMatchObject({
      name: 'Acme Engines',
      account_kind: 'domain',
      account_key: 'acme.com',
      fields: { industry: 'Software', name: 'Acme Engines' },
      roll_up: { method: 'sum', points: 15 },
      rules: [
        {
          rule_id: idOf('several'),
          label: 'Several people',
          filter_label: 'leads is at least 2',
          points: 20,
        },
        { rule_id: idOf('software'), points: 7 },
      ],
      top_leads: [
        { lead_id: idOf('ada'), score: 10 },
        { lead_id: idOf('bob'), score: 5 },
      ],
      unattributed: 0,
    });
    expect((await rig.get(`/score/${idOf('ada')}`)).body).toMatchObject({
      account_id: acme,
      scores: { engagement: 10, account: 42 },
    });
    expect((await rig.get(`/score/${idOf('free')}`)).body).not.toHaveProperty('account_id');
    expect((await rig.get('/leads?q=bob')).body).toMatchObject({
      data: [{ account_id: acme, scores: { engagement: 5, account: 42 } }],
    });
  });

  test('gives its score to its leads, with the reasons in words, and 0 to a lead without one', async () => {
    const [ada, free] = [idOf('ada'), idOf('free')];
    expect((await rig.get(`/score/${ada}?score_type=account`)).body).toMatchObject({
      ...{ score_type: 'account', account_id: acme, score: 42, level: null },
      scores: { engagement: 10, account: 42 },
    });
    const { body } = await rig.get(`/lead/${ada}/score-explain?score_type=account`);
    expect(routes.explainScore.responses[200].schema.parse(body)).toMatchObject({
      ...{ lead_id: ada, score_type: 'account', score: 42, level: null, unattributed: 0 },
      top_drivers: [
        { rule_id: idOf('several'), total: 20, label: 'Several people' },
        { rule_id: idOf('software'), total: 7 },
      ],
      account: {
        ...{ id: acme, name: 'Acme Engines', leads: 2, roll_up: { method: 'sum' } },
        reasons: [
          { reason: 'leads', points: 15, words: '+15: the sum of the scores of its 2 leads.' },
          {
            ...{ reason: 'account_rule', rule_id: idOf('several'), points: 20 },
            words: '+20: the account meets "Several people" (leads is at least 2).',
          },
          { points: 7, words: '+7: the account meets the rule (industry is "software").' },
        ],
      },
    });
    expect((await rig.get(`/score/${free}?score_type=account`)).body).toMatchObject({
      ...{ score_type: 'account', score: 0, level: null },
    });
    const without = await rig.get(`/lead/${free}/score-explain?score_type=account`);
    expect(routes.explainScore.responses[200].schema.parse(without.body)).toMatchObject({
      ...{ score: 0, unattributed: 0, top_drivers: [] },
    });
    expect(without.body).not.toHaveProperty('account');
    for (const path of [`/score/${ada}?`, `/lead/${ada}/score-explain?`])
      expect(await rig.get(`${path}score_type=account`, { ou: otherOuId })).toMatchObject({ status: 404 });
    for (const moment of ['at', 'known_at'])
      expect(
        await rig.get(`/lead/${ada}/score-explain?score_type=account&${moment}=2026-01-01T00:00:00Z`),
      ).toMatchObject({
        status: 400,
        body: {
          errors: [{ path: `query.${moment}`, message: expect.stringContaining('score_type account') }],
        },
      });
  });

  test('is not there for another OU, and neither is one that nobody belongs to', async () => {
    expect(await rig.get(`/accounts/${acme}`, { ou: otherOuId })).toMatchObject({
      status: 404,
      body: { code: 'account_not_found' },
    });
    expect(await rig.get(`/accounts/${idOf('nowhere')}`)).toMatchObject({ status: 404 });
    expect((await rig.get('/accounts', { ou: otherOuId })).body).toMatchObject({ total: 0, data: [] });
  });

  test('follows a reset, a named account and a deletion of its leads', async () => {
    await rig.score([views('cy', 'globex.com', {})]);
    await accountWith(accountOf('globex.com'), { score: 5, leads: 1 });
    await rig.reset(resetScores('cy'));
    await accountWith(accountOf('globex.com'), { score: 0, leads: 1 });
    await rig.score([views('cy', 'globex.com', { account: 'Crm-17' })]);
    await accountWith(accountOf('Crm-17', 'named'), { score: 5, leads: 1, name: 'Crm-17' });
    await gone(accountOf('globex.com'));
    await rig.score([deleted('cy')]);
    await gone(accountOf('Crm-17', 'named'));
  });

  test('gets a new roll-up and changed rules with the next event of any of its leads', async () => {
    await rig.request(setRollUp('max'));
    await rig.request(updateRule('several', { weight: 30 }));
    await rig.request(setAccountRulesActive(['software'], false));
    expect((await rig.get(`/accounts/${acme}`)).body).toMatchObject({ score: 42 });
    await rig.score([views('bob', 'acme.com', { again: true })]);
    await accountWith(acme, {
      score: 40,
      roll_up: { method: 'max', points: 10 },
      rules: [{ rule_id: idOf('several'), rule_version: 2, points: 30 }],
    });
  });

  test('names a rule that was deleted since', async () => {
    await rig.request(deleteRule('several'));
    expect((await rig.get(`/accounts/${acme}`)).body).toMatchObject({
      rules: [{ rule_id: idOf('several'), label: 'Several people', points: 30 }],
      unattributed: 0,
    });
    expect(await rig.get(`/rules/${idOf('several')}`)).toMatchObject({ status: 404 });
  });

  test('has decisions of its own on the public topic', async () => {
    const decisions = (await rig.recordsOn('scoring.events')).filter(({ type }) => type === 'AccountScored');
    const ofAcme = decisions.filter(({ payload }) => (payload as JsonObject).account_id === acme);
    expect(ofAcme.at(-1)).toMatchObject({
      payload: {
        previous_score: 42,
        score: 40,
        leads: 2,
        configuration_version: expect.any(Number),
        adjustments: expect.arrayContaining([{ reason: 'leads', points: -5 }]),
      },
    });
    expect(new Set(ofAcme.map(({ partition }) => partition)).size).toBe(1);
  });

  test('and all accounts are what a rebuild gives', async () => {
    const live = await rig.documents();
    await rig.rebuild();
    expect(await rig.documents()).toEqual(live);
    expect((await rig.documents([accounts]))[accounts.name]).toHaveLength(1);
    expect((await rig.documents([accountLeads]))[accountLeads.name]).toHaveLength(2);
  });
});

describe('accounts', () => {
  const companies = ['one', 'two', 'three'];
  beforeAll(async () => {
    await rig.score(
      companies.flatMap((company, index) => [
        views(`lead of ${company}`, `${company}.com`, ...Array.from({ length: index + 3 }, () => ({}))),
      ]),
    );
    for (const [index, company] of companies.entries())
      await accountWith(accountOf(`${company}.com`), { score: 5 * (index + 3) });
  }, 60_000);

  const namesOf = async (query: string) => {
    const { status, body } = await rig.get(`/accounts?${query}`);
    expect(status).toBe(200);
    const page = routes.listAccounts.responses[200].schema.parse(body);
    return { ...page, names: page.data.map(({ name }) => name) };
  };

  test('are listed by score, in either direction, by score range and by text', async () => {
    expect(await namesOf('page=1')).toMatchObject({
      total: 4,
      names: ['Acme Engines', 'three.com', 'two.com', 'one.com'],
    });
    expect(await namesOf('sort=score&limit=2')).toMatchObject({ total: 4, names: ['one.com', 'two.com'] });
    expect(await namesOf('min_score=20&max_score=25')).toMatchObject({ names: ['three.com', 'two.com'] });
    expect(await namesOf('q=ENGINES')).toMatchObject({ total: 1, names: ['Acme Engines'] });
    expect(await namesOf('q=.')).toMatchObject({ total: 4 });
    expect(await namesOf('page=2&limit=3')).toMatchObject({ names: ['one.com'] });
  });

  test('are paged by cursor in both directions', async () => {
    for (const sort of ['score', '-score']) {
      const first = await namesOf(`sort=${sort}&limit=3`);
      const rest = await namesOf(`sort=${sort}&limit=3&cursor=${first.next_cursor ?? ''}`);
      const all = await namesOf(`sort=${sort}`);
      expect([...first.names, ...rest.names]).toEqual(all.names);
      expect(rest.next_cursor).toBeUndefined();
    }
    expect(await rig.get('/accounts?cursor=eA')).toMatchObject({
      status: 400,
      body: { code: 'invalid_cursor' },
    });
    for (const query of ['sort=owner', 'min_leads=0', 'account_kind=other', 'active_since=soon', 'limit=101'])
      expect(await rig.get(`/accounts?${query}`)).toMatchObject({ status: 400 });
  });
});

describe('what is configured', () => {
  test('is listed for the OU, and for no other', async () => {
    expect((await rig.get('/account-scoring/rulesets')).body).toMatchObject({
      total: 1,
      data: [{ id: idOf('Companies'), score_type: 'account' }],
    });
    expect((await rig.get(`/account-scoring/rules?ruleset_id=${idOf('Companies')}`)).body).toMatchObject({
      total: 1,
      data: [{ id: idOf('software'), active: false, filter_label: 'industry is "software"' }],
    });
    expect((await rig.get(`/rules/${idOf('software')}`)).body).toMatchObject({ weight: 7 });
    expect((await rig.get(`/rules/${idOf('software')}/history`)).body).toMatchObject({ total: 2 });
    expect((await rig.get('/account-scoring/roll-up')).body).toEqual({ roll_up: { method: 'max' } });
    expect((await rig.get('/account-scoring/roll-up', { ou: otherOuId })).body).toEqual({
      roll_up: { method: 'sum' },
    });
    for (const path of ['rulesets', 'rules'])
      expect((await rig.get(`/account-scoring/${path}`, { ou: otherOuId })).body).toMatchObject({ total: 0 });
  });

  test('can be tested on an account and on a sample, and nothing is stored', async () => {
    const before = await rig.documents();
    const ofAccount = await rig.post('/account-scoring/test', {
      account_id: acme,
      rules: [{ conditions: [{ field: 'leads', operator: 'gte', value: 2 }], weight: 3, label: 'Draft' }],
    });
    expect(routes.testAccount.responses[200].schema.parse(ofAccount.body)).toMatchObject({
      points: 3,
      account: { name: 'Acme Engines', domain: 'acme.com', leads: 2, leads_score: 10, industry: 'Software' },
      rules: [
        {
          rule_id: idOf('software'),
          matched: true,
          points: 0,
          why: 'Matches: industry is "software", and industry is "Software". No points, because the rule is switched off.',
        },
        { rule_id: null, label: 'Draft', matched: true, points: 3 },
      ],
      rules_total: 2,
    });
    const sample = await rig.post('/account-scoring/test', { account: { leads: 1 }, rules: [] });
    expect(sample.body).toMatchObject({
      points: 0,
      rules: [
        {
          matched: false,
          why: 'Does not match: the rule asks that industry is "software", but the account has no industry.',
        },
      ],
    });
    expect(await rig.post('/account-scoring/test', { account_id: idOf('nowhere') })).toMatchObject({
      status: 404,
      body: { code: 'account_not_found' },
    });
    expect(await rig.post('/account-scoring/test', { account_id: acme }, { ou: otherOuId })).toMatchObject({
      status: 404,
    });
    expect(await rig.post('/account-scoring/test', {})).toMatchObject({ status: 400 });
    expect(await rig.documents()).toEqual(before);
  });
});

test('limits of a ruleset hold the sum of its rules on an account, and every answer says so', async () => {
  const limits = { max_score: 5, min_score: -1 };
  expect(await rig.request(updateRuleset('Companies', limits))).toMatchObject({ result: limits });
  await rig.request(setAccountRulesActive(['software'], true));
  await rig.score([views('bob', 'acme.com', { once: 'more' })]);
  const account = await accountWith(acme, {
    score: 20,
    roll_up: { points: 15 },
    rules: [{ rule_id: idOf('software'), points: 7 }],
    held: [
      {
        ruleset_id: idOf('Companies'),
        points: -2,
        why: 'Companies: 2 points held back, at most 5 an account',
      },
    ],
  });
  expect(account.unattributed).toBe(0);
  const answer = await rig.post('/account-scoring/test', { account_id: acme });
  expect(routes.testAccount.responses[200].schema.parse(answer.body)).toMatchObject({
    points: 5,
    held: [{ ruleset_id: idOf('Companies'), points: -2, why: 'The ruleset "Companies" gives at most 5.' }],
  });
  const live = await rig.documents([accounts]);
  await rig.rebuild();
  expect(await rig.documents([accounts])).toEqual(live);
});
