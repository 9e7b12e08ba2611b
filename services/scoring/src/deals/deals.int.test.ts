// Deal scoring on real servers: rules by commands, deals by the events of leads, each deal in its own partition.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes, type JsonObject, type JsonValue } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import {
  createRule,
  createRuleset,
  deleted,
  deleteRule,
  idOf,
  ingested,
  otherOuId,
  updateRule,
  updateRuleset,
} from '../testing/builders.js';
import { createDealRule, isLarge, isWon, naming } from '../testing/deal-builders.js';
import { startRig, type Rig } from '../testing/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.request(createRuleset('Deals', { score_type: 'deal' }));
  await rig.request(createRule('view', { weight: 5 }));
  await rig.request(createDealRule('won', isWon, { weight: 50, label: 'Won deal' }));
  await rig.request(createDealRule('large', isLarge, { weight: 30 }));
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);

let minutes = 0;
/** Events of a lead that name deals, later than those before. */
const name = (lead: string, ...deals: JsonValue[]) => {
  minutes += 1;
  const timestamp = new Date(Date.UTC(2026, 0, 1, 12, minutes)).toISOString();
  return rig.score([naming(lead, deals, { timestamp })]);
};

/** The deal, once it is as expected: it follows the events of its leads within moments. */
const deal = (id: string, expected: object) =>
  eventually(`the deal ${id} is as expected`, async () => {
    const { status, body } = await rig.get(`/deals/${encodeURIComponent(id)}`);
    expect({ status, ...body }).toMatchObject({ status: 200, ...expected });
    return routes.getDeal.responses[200].schema.parse(body);
  });

const gone = (id: string) =>
  eventually(`the deal ${id} is gone`, async () => (await rig.get(`/deals/${id}`)).status === 404);

describe('a deal', () => {
  test('comes from an event that names it, and has its fields, its score and the reasons', async () => {
    await name('ada', {
      id: 'D-1',
      stage: 'Won',
      amount: '12500.50',
      currency: 'eur',
      closed_at: '2026-03-31',
    });
    const found = await deal('D-1', { score: 80 });
    expect(found).toMatchObject({
      id: 'D-1',
      stage: 'Won',
      amount: 12_500.5,
      currency: 'EUR',
      closed_at: '2026-03-31T00:00:00.000Z',
      lead_ids: [idOf('ada')],
      reasons_total: 2,
      reasons: [
        {
          rule_id: idOf('won'),
          label: 'Won deal',
          points: 50,
          text: 'stage is "won"',
          ruleset_name: 'Deals',
        },
        { rule_id: idOf('large'), points: 30 },
      ],
    });
    await eventually('the deal counts for its lead', async () => {
      const { body } = await rig.get(`/score/${idOf('ada')}`);
      expect(body).toMatchObject({ score: 5, scores: { engagement: 5, deal: 80 } });
      return true;
    });
    expect((await rig.get('/leads')).body).toMatchObject({ data: [{ scores: { engagement: 5, deal: 80 } }] });
  });

  test('is one for all leads that name it, in whichever partition they are', async () => {
    const leads = ['bob', 'cy', 'dora', 'eve', 'fay'];
    await rig.score(
      leads.map((lead, index) =>
        naming(lead, [{ id: 'Shared / 1', amount: 1_000 * index }], {
          received_at: '2026-01-02T00:00:00.000Z',
        }),
      ),
    );
    await deal('Shared / 1', { amount: 4_000, lead_ids: { length: 5 } });
    const found = await rig.get(`/deals?lead_id=${idOf('cy')}`);
    expect(found.body).toMatchObject({ total: 1, data: [{ id: 'Shared / 1' }] });
  });

  test('of another OU or unknown is 404, also for a test of rules, and lists have those of the OU only', async () => {
    for (const options of [{ ou: otherOuId }, {}]) {
      const id = 'ou' in options ? 'D-1' : 'unknown';
      expect(await rig.get(`/deals/${id}`, options)).toMatchObject({
        status: 404,
        body: { code: 'deal_not_found' },
      });
      expect(await rig.post('/deal-scoring/test', { deal_id: id }, options)).toMatchObject({
        status: 404,
        body: { code: 'deal_not_found' },
      });
    }
    for (const path of ['/deals', `/deals?lead_id=${idOf('ada')}`, '/deal-scoring/ignored-deals'])
      expect((await rig.get(path, { ou: otherOuId })).body).toMatchObject({ total: 0, data: [] });
    for (const path of ['rulesets', 'rules'])
      expect((await rig.get(`/deal-scoring/${path}`, { ou: otherOuId })).body).toMatchObject({ total: 0 });
  });

  test('is listed by score, stage and lead, page by page; a list of other values is 400', async () => {
    await name('gus', { id: 'D-2', stage: 'open' }, { id: 'D-3', stage: 'won' });
    await deal('D-2', { score: 0 });
    await deal('D-3', { score: 50 });
    const scores = async (query: string) => {
      const { status, body } = await rig.get(`/deals?${query}`);
      expect(status).toBe(200);
      return (body.data as JsonObject[]).map(({ id }) => id);
    };
    expect(await scores('min_score=50')).toEqual(['D-1', 'D-3']);
    expect(await scores('max_score=50&min_score=1')).toEqual(['D-3']);
    expect(await scores('stage=WON&sort=score')).toEqual(['D-3', 'D-1']);
    const first = (await rig.get('/deals?limit=2')).body;
    expect(routes.listDeals.responses[200].schema.parse(first)).toMatchObject({ total: 4, data: [{}, {}] });
    const next = (await rig.get(`/deals?limit=2&cursor=${String(first.next_cursor)}`)).body;
    const second = (await rig.get('/deals?limit=2&page=2')).body;
    expect(next.data).toEqual(second.data);
    for (const query of ['sort=amount', 'min_score=x', 'limit=101', 'cursor=none', 'min_score=5&max_score=1'])
      expect((await rig.get(`/deals?${query}`)).status).toBe(400);
  });

  test('follows a changed rule, a limit and a deleted rule with the next event that names it', async () => {
    await name('hal', { id: 'D-4', stage: 'won', amount: 20_000 });
    await deal('D-4', { score: 80 });
    expect(await rig.request(updateRule('won', { weight: 70, label: 'Closed' }))).toMatchObject({
      outcome: 'done',
      result: { weight: 70, version: 2 },
    });
    await rig.request(updateRuleset('Deals', { max_score: 90 }));
    await deal('D-4', { score: 80 });
    await name('hal', { id: 'D-4' });
    await deal('D-4', {
      score: 90,
      reasons: [{ points: 70, label: 'Closed' }, { points: 30 }, { points: -10 }],
    });
    await rig.request(deleteRule('won'));
    await name('hal', { id: 'D-4', stage: 'lost' });
    await deal('D-4', { score: 30, stage: 'lost' });
    const history = await rig.get(`/rules/${idOf('won')}/history`);
    expect(history.body).toMatchObject({
      total: 3,
      data: [{ change: 'deleted' }, { change: 'changed' }, { change: 'created' }],
    });
    await rig.request(createDealRule('won again', isWon, { weight: 50 }));
    await rig.request(updateRuleset('Deals', { max_score: null }));
  });

  test('that is no deal parks and stops nothing: its event counts, and the list says what is wrong', async () => {
    await name('ida', { id: 'D-5', amount: 'many' }, 'spring sale', { id: 'D-6', stage: 'open' });
    await deal('D-6', {});
    expect((await rig.get(`/score/${idOf('ida')}`)).body).toMatchObject({ score: 15 });
    expect((await rig.get('/deals/D-5')).status).toBe(404);
    const { status, body } = await rig.get('/deal-scoring/ignored-deals');
    expect(status).toBe(200);
    expect(routes.listIgnoredDeals.responses[200].schema.parse(body)).toMatchObject({
      total: 2,
      data: [
        {
          lead_id: idOf('ida'),
          path: 'metadata.deal',
          problem: expect.stringContaining('must be an object'),
        },
        { path: 'metadata.deal.amount', problem: expect.stringContaining('must be a number') },
      ],
    });
    expect(await rig.recordsOn('scoring.dead-letters')).toEqual([]);
  });

  test('loses a lead that is deleted, and goes with the last one; what the lead said wrong goes too', async () => {
    await rig.score([naming('jo', [{ id: 'D-7', stage: 'won' }]), naming('kim', [{ id: 'D-7' }, 'no deal'])]);
    await deal('D-7', { lead_ids: { length: 2 } });
    await rig.score([deleted('kim')]);
    await deal('D-7', { lead_ids: [idOf('jo')], stage: 'won' });
    await rig.score([deleted('jo')]);
    await gone('D-7');
    expect(JSON.stringify(await rig.documents())).not.toContain('D-7');
    expect(JSON.stringify((await rig.get('/deal-scoring/ignored-deals')).body)).not.toContain(idOf('kim'));
    await name('jo', { id: 'D-7' });
    await deal('D-7', { stage: null, lead_ids: [idOf('jo')], score: 0 });
  });

  test('and its decisions are what a rebuild gives', async () => {
    const live = await rig.documents();
    await rig.rebuild();
    expect(await rig.documents()).toEqual(live);
  });
});

test('a decision on a deal is a record of its own, with the score before and after, the reason and the version', async () => {
  const decisions = (await rig.recordsOn('scoring.events')).flatMap(({ type, payload }) =>
    type === 'DealScored' ? [payload as JsonObject] : [],
  );
  expect(decisions.filter(({ deal_id }) => deal_id === 'D-4')).toMatchObject([
    { new_deal: true, previous_score: 0, score: 80, adjustments: [{ reason: 'deal_rule' }, {}] },
    { previous_score: 80, score: 90, configuration_version: expect.any(Number) },
    { previous_score: 90, score: 30, changes: [{ field: 'stage', value: 'lost' }] },
  ]);
});

describe('POST /deal-scoring/test', () => {
  test('says for a deal and for a sample what each rule and draft gives and why, and stores nothing', async () => {
    const before = await rig.documents();
    const draft = { conditions: [{ field: 'currency', operator: 'equals', value: 'EUR' }], weight: 7 };
    const { status, body } = await rig.post('/deal-scoring/test', {
      deal_id: 'D-1',
      deal: { stage: 'open', amount: '500' },
      rules: [draft],
    });
    expect(status).toBe(200);
    expect(routes.testDeal.responses[200].schema.parse(body)).toMatchObject({
      points: 7,
      deal: { id: 'D-1', stage: 'open', amount: 500, currency: 'EUR' },
      rules_total: 3,
      rules: [
        {
          rule_id: idOf('large'),
          matched: false,
          points: 0,
          why: 'Does not match: the rule asks that amount is at least 10000, but amount is 500.',
        },
        { rule_id: idOf('won again'), matched: false },
        {
          rule_id: null,
          matched: true,
          points: 7,
          why: 'Matches: currency is "EUR", and currency is "EUR".',
        },
      ],
    });
    const sample = await rig.post('/deal-scoring/test', { deal: { stage: 'won', amount: null } });
    expect(sample.body).toMatchObject({ points: 50, deal: { id: null, amount: null } });
    expect(await rig.documents()).toEqual(before);
  });

  test.each([
    {},
    { deal: { stage: ['won'] } },
    { deal: { amount: 'many' } },
    { deal: { currency: 'Euro' } },
    { deal: { price: 5 } },
    { deal_id: '' },
    { deal: {}, rules: [{ conditions: [], weight: 5 }] },
  ])('%j is 400', async (body) => {
    expect(await rig.post('/deal-scoring/test', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });
});

test('rulesets and rules of deals are listed, and one rule is read', async () => {
  expect((await rig.get('/deal-scoring/rulesets')).body).toMatchObject({
    total: 1,
    data: [{ id: idOf('Deals'), score_type: 'deal' }],
  });
  expect((await rig.get(`/deal-scoring/rules?ruleset_id=${idOf('Deals')}`)).body).toMatchObject({
    total: 2,
    data: [{ id: idOf('large'), filter_label: 'amount is at least 10000' }, { id: idOf('won again') }],
  });
  expect((await rig.get(`/rules/${idOf('large')}`)).body).toMatchObject({ id: idOf('large'), weight: 30 });
  expect((await rig.get('/rulesets?score_type=deal')).body).toMatchObject({ total: 1 });
  expect((await rig.get('/profile-scoring/rules')).body).toMatchObject({ total: 0 });
});

test('an event that names no deal makes no command', async () => {
  const before = (await rig.recordsOn('scoring.commands')).length;
  await rig.score([ingested('lea', [{ metadata: { path: '/' } }])]);
  expect(await rig.recordsOn('scoring.commands')).toHaveLength(before);
});
