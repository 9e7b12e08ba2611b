// Attribution on real servers: deals come from events, and touches from a stand-in for ingest.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { routes, type JsonObject } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/testing/service-rig';
import type { Touch } from './credit-model.js';
import { idOf, otherOuId, ouId } from '../testing/builders.js';
import { naming } from '../testing/deal-builders.js';
import { startRig, type Rig } from '../testing/rig.js';

const touch = (lead: string, event_type: string, at: string, more: Partial<Touch> = {}): Touch => ({
  id: idOf(`${lead} ${event_type} ${at}`),
  lead_id: idOf(lead),
  at,
  event_type,
  ...more,
});

const touches = [
  touch('ada', 'Ad Click', '2026-01-05T00:00:00.000Z', { campaign: 'Spring' }),
  touch('ada', 'Page View', '2026-01-12T00:00:00.000Z', { path: '/pricing' }),
  touch('bob', 'Demo', '2026-01-19T00:00:00.000Z'),
  touch('bob', 'Page View', '2026-03-01T00:00:00.000Z'),
];

const shared = { id: 'D-1', stage: 'Closed Won', amount: 7_000, currency: 'EUR', closed_at: '2026-01-26' };

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  const at = (timestamp: string) => ({ timestamp });
  await rig.score([
    naming('ada', [shared], at('2026-01-26T09:00:00.000Z')),
    naming('bob', [shared], at('2026-01-26T10:00:00.000Z')),
    // Without closed_at: closed when an event gave it its stage.
    naming('cy', [{ id: 'D-2', stage: 'won', amount: 50, currency: 'USD' }], at('2026-02-10T23:30:00.000Z')),
    naming('cy', [{ id: 'D-3', stage: 'lost', amount: 9 }], at('2026-02-10T10:00:00.000Z')),
    naming('cy', [{ id: 'D-4', stage: 'Signed', amount: 9 }], at('2026-02-11T10:00:00.000Z')),
  ]);
  await eventually('the deals are there', async () => {
    const { body } = await rig.get('/deals');
    const { data } = routes.listDeals.responses[200].schema.parse(body);
    return data.length === 4 && data.find(({ id }) => id === 'D-1')?.lead_ids.length === 2;
  });
}, 60_000);
afterAll(async () => {
  await rig.stop();
}, 60_000);
beforeEach(() => {
  rig.ingest.fails = false;
  rig.ingest.touches = new Map([
    [ouId, touches],
    // Ingest answers for the OU that asks: what it says of another would show here.
    [otherOuId, touches],
  ]);
});

const all = 'from=2026-01-01&to=2026-04-01';
const insights = (query: string, options = {}) => rig.get(`/deals/attribution-insights?${query}`, options);
const deals = (query: string, options = {}) => rig.get(`/deals/attribution-insights/deals?${query}`, options);

describe('GET /deals/attribution-insights', () => {
  test('shares each won deal among the touches before it, of all leads that named the deal', async () => {
    const { status, body } = await insights(`${all}&model=position_based`);
    expect({ status, ...body }).toMatchObject({
      status: 200,
      model: 'position_based',
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-04-01T00:00:00.000Z',
      half_life_days: null,
      lookback_days: null,
      deals: 2,
      amounts: [
        { currency: 'EUR', amount: 7_000, deals: 1 },
        { currency: 'USD', amount: 50, deals: 1 },
      ],
      leads: 2,
      touches: 3,
      untouched: { deals: 1, amounts: [{ currency: 'USD', amount: 50, deals: 1 }] },
      event_types: {
        total: 3,
        data: [
          { value: 'Ad Click', credit: 0.4, amounts: [{ currency: 'EUR', amount: 2_800 }], touches: 1 },
          { value: 'Demo', credit: 0.4, amounts: [{ currency: 'EUR', amount: 2_800 }], touches: 1 },
          { value: 'Page View', credit: 0.2, amounts: [{ currency: 'EUR', amount: 1_400 }], touches: 1 },
        ],
      },
      campaigns: {
        data: [
          { value: null, credit: 0.6 },
          { value: 'Spring', credit: 0.4 },
        ],
      },
      paths: {
        data: [
          { value: null, credit: 0.8 },
          { value: '/pricing', credit: 0.2 },
        ],
      },
    });
  });

  test.each([
    ['first_touch', { 'Ad Click': 1, Demo: 0, 'Page View': 0 }],
    ['last_touch', { 'Ad Click': 0, Demo: 1, 'Page View': 0 }],
    ['linear', { 'Ad Click': 0.333334, Demo: 0.333333, 'Page View': 0.333333 }],
    ['time_decay', { 'Ad Click': 0.142857, Demo: 0.571429, 'Page View': 0.285714 }],
    ['position_based', { 'Ad Click': 0.4, Demo: 0.4, 'Page View': 0.2 }],
  ])('by %s the credit is as computed by hand', async (model, expected) => {
    const { body } = await insights(`${all}&model=${model}`);
    const found = routes.getAttributionInsights.responses[200].schema.parse(body);
    expect(Object.fromEntries(found.event_types.data.map(({ value, credit }) => [value, credit]))).toEqual(
      expected,
    );
    expect(found.half_life_days).toBe(model === 'time_decay' ? 7 : null);
  });

  test('time_decay takes another half-life, and lookback_days leaves older touches out', async () => {
    const query = `${all}&model=time_decay&half_life_days=14&lookback_days=15`;
    const { body } = await insights(query);
    expect(body).toMatchObject({
      half_life_days: 14,
      lookback_days: 15,
      // 7 days are half of the half-life: 1 to the square root of 2.
      event_types: {
        data: [
          { value: 'Demo', credit: 0.585786 },
          { value: 'Page View', credit: 0.414214 },
        ],
      },
    });
  });

  test('a range begins and ends at midnight in the time zone, and `to` is exclusive', async () => {
    const count = async (query: string) => (await insights(query)).body.deals;
    // Closed on 10 February at 23:30 UTC, which is the 11th in Berlin.
    expect(await count('from=2026-02-11&to=2026-02-12')).toBe(0);
    expect(await count('from=2026-02-11&to=2026-02-12&timezone=Europe/Berlin')).toBe(1);
    expect(await count('from=2026-02-10T23:30:00Z&to=2026-02-11')).toBe(1);
    expect(await count('from=2026-02-10&to=2026-02-10T23:30:00Z')).toBe(0);
  });

  test('`stage` names the stage of won deals, whatever its case', async () => {
    expect((await insights(`${all}&stage=signed`)).body).toMatchObject({
      deals: 1,
      amounts: [{ amount: 9 }],
    });
  });

  test('the deals of another OU are not among them', async () => {
    expect(await insights(all, { ou: otherOuId })).toMatchObject({
      status: 200,
      body: { deals: 0, touches: 0 },
    });
    expect((await deals(all, { ou: otherOuId })).body).toMatchObject({ data: [], total: 0 });
  });

  test.each([
    ['from=2026-02-02&to=2026-02-01', /must not be before from/],
    ['from=2026-02-01T01:00:00Z&to=2026-02-01T01:00:00%2B02:00', /must not be before from/],
    ['model=linear&half_life_days=3', /is for model=time_decay only/],
    ['timezone=Mars', /must be a name of the IANA time zone database such as Europe\/Berlin/],
    ['model=u_shaped', /first_touch/],
    ['half_life_days=0&model=time_decay', /must be a number from/],
  ])('%s is 400 with what to change', async (query, message) => {
    const { status, text } = await insights(query);
    expect(status).toBe(400);
    expect(text).toMatch(message);
  });

  test('is 503 where ingest does not answer', async () => {
    rig.ingest.fails = true;
    const answer = await insights(all);
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('2');
    expect((await deals(all)).status).toBe(503);
  });

  test('is 422 with what to narrow where the leads have more events than one answer reads', async () => {
    const first = touches[0] ?? touch('ada', 'Page View', '2026-01-01T00:00:00.000Z');
    rig.ingest.touches.set(
      ouId,
      Array.from({ length: 100_001 }, () => first),
    );
    for (const ask of [insights, deals])
      expect(await ask(all)).toMatchObject({
        status: 422,
        body: { code: 'range_too_large', detail: expect.stringContaining('Ask for a shorter time') },
      });
  });

  test('is 422 with what to narrow where more than 1,000 deals were won', async () => {
    const many = Array.from({ length: 1_001 }, (_, index): JsonObject => ({
      id: `Many ${String(index)}`,
      stage: 'won',
      closed_at: '2024-05-01',
    }));
    await rig.score([naming('dan', many.slice(0, 500)), naming('dan', many.slice(500))]);
    await eventually('the deals are there', async () => {
      const { body } = await rig.get('/deals?limit=1');
      return body.total === 1_005;
    });
    expect(await insights('from=2024-01-01&to=2025-01-01')).toMatchObject({
      status: 422,
      body: { code: 'range_too_large', detail: expect.stringContaining('More than 1000 deals') },
    });
  }, 60_000);
});

describe('GET /deals/attribution-insights/deals', () => {
  test('lists the deals and leads of a row, whose credits add up to it', async () => {
    expect((await deals(`${all}&model=position_based&by=event_type&value=page_view`)).body).toEqual({
      data: [
        {
          deal_id: 'D-1',
          stage: 'Closed Won',
          amount: 7_000,
          currency: 'EUR',
          closed_at: '2026-01-26T00:00:00.000Z',
          credit: 0.2,
          credited_amount: 1_400,
          touches: 1,
          leads: [{ lead_id: idOf('ada'), credit: 0.2, touches: 1 }],
        },
      ],
      total: 1,
      page: 1,
      limit: 25,
    });
  });

  test('lists the deals without a touch, those of touches without a campaign, and all, page by page', async () => {
    const ids = async (query: string) => {
      const { body } = await deals(`${all}&${query}`);
      return [
        routes.listAttributedDeals.responses[200].schema.parse(body).data.map(({ deal_id }) => deal_id),
        body.total,
      ];
    };
    expect(await ids('by=untouched')).toEqual([['D-2'], 1]);
    expect(await ids('by=campaign')).toEqual([['D-1'], 1]);
    expect(await ids('by=campaign&value=Autumn')).toEqual([[], 0]);
    expect(await ids('limit=1')).toEqual([['D-1'], 2]);
    expect(await ids('limit=1&page=2')).toEqual([['D-2'], 2]);
  });

  test.each(['value=Spring', 'by=untouched&value=Spring'])(
    '%s is 400: a value needs what it is of',
    async (query) => {
      const { status, text } = await deals(query);
      expect(status).toBe(400);
      expect(text).toMatch(/must come with by=event_type, by=campaign or by=path/);
    },
  );
});

test('a rebuild gives the same answers', async () => {
  const before = await insights(`${all}&model=linear`);
  await rig.rebuild();
  expect((await insights(`${all}&model=linear`)).body).toEqual(before.body);
}, 60_000);
