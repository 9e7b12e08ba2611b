// Credit for won deals: each model against an example that was computed by hand, and the laws of all of them.
import { describe, expect, test } from '@jest/globals';
import { attributionModels, attributionDimensions, type AttributionModel } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { idOf } from '../testing/builders.js';
import { amountPlaces, amountUnits, apportion, creditPlaces, numberOf } from './apportion.js';
import { creditedDeals, type CreditedDeal, type Touch, type WonDeal } from './credit-model.js';
import { dealsOf, insightsOf } from './insights-model.js';
import { withinLimits } from './won-deals.js';

const closed_at = '2026-03-31T00:00:00.000Z';

/** A touch so many days before the deal was closed. */
const touch = (name: string, daysBefore: number, more: Partial<Touch> = {}): Touch => ({
  id: idOf(name),
  lead_id: idOf('ada'),
  at: new Date(Date.parse(closed_at) - daysBefore * 86_400_000).toISOString(),
  event_type: name,
  ...more,
});

const deal = (more: Partial<WonDeal> = {}): WonDeal => ({
  id: 'D-1',
  stage: 'won',
  amount: 1_000,
  currency: 'EUR',
  closed_at,
  leads: [idOf('ada')],
  ...more,
});

const shown = { page: 1, limit: 100 };

const credited = (
  touches: readonly Touch[],
  model: AttributionModel,
  {
    deals = [deal()],
    half_life_days = 7,
    lookback_days = null,
  }: { deals?: WonDeal[]; half_life_days?: number; lookback_days?: number | null } = {},
): CreditedDeal[] => creditedDeals(deals, touches, { model, half_life_days, lookback_days });

/** The credit and the amount of each event type. */
const shares = (...given: Parameters<typeof credited>) =>
  Object.fromEntries(
    insightsOf(credited(...given), shown).event_types.data.map(
      ({ value, credit, amounts }): [string, [number, number | undefined]] => [
        value ?? '',
        [credit, amounts[0]?.amount],
      ],
    ),
  );

describe('an example that was computed by hand: an ad 21 days, a visit 14 days, a demo 7 days before, and a call just before', () => {
  const four = [touch('Demo', 7), touch('Ad', 21), touch('Call', 0.000001), touch('Visit', 14)];

  test('first_touch gives all to the ad', () => {
    expect(shares(four, 'first_touch')).toEqual({
      Ad: [1, 1_000],
      Call: [0, 0],
      Demo: [0, 0],
      Visit: [0, 0],
    });
  });

  test('last_touch gives all to the call', () => {
    expect(shares(four, 'last_touch')).toEqual({ Call: [1, 1_000], Ad: [0, 0], Demo: [0, 0], Visit: [0, 0] });
  });

  test('linear gives a quarter to each', () => {
    expect(shares(four, 'linear')).toEqual({
      Ad: [0.25, 250],
      Visit: [0.25, 250],
      Demo: [0.25, 250],
      Call: [0.25, 250],
    });
  });

  test('time_decay halves with each 7 days: 1/15, 2/15, 4/15 and 8/15', () => {
    expect(
      shares(
        [touch('Demo', 7), touch('Ad', 21), touch('Call', 0.5 / 86_400_000), touch('Visit', 14)],
        'time_decay',
      ),
    ).toEqual({
      Ad: [0.066667, 66.6667],
      Visit: [0.133333, 133.3333],
      Demo: [0.266667, 266.6667],
      Call: [0.533333, 533.3333],
    });
  });

  test('position_based gives 40 % to the ad, 40 % to the call and 10 % to each of those between them', () => {
    expect(shares(four, 'position_based')).toEqual({
      Ad: [0.4, 400],
      Call: [0.4, 400],
      Demo: [0.1, 100],
      Visit: [0.1, 100],
    });
  });
});

describe('time_decay', () => {
  test('with a half-life of one day gives a touch of the day before half as much: 2/3 and 1/3', () => {
    expect(shares([touch('Late', 1), touch('Early', 2)], 'time_decay', { half_life_days: 1 })).toEqual({
      Late: [0.666667, 666.6667],
      Early: [0.333333, 333.3333],
    });
  });

  test('gives a touch 60 half-lives older nothing, and all to the others', () => {
    expect(shares([touch('New', 1), touch('Old', 421)], 'time_decay')).toEqual({
      New: [1, 1_000],
      Old: [0, 0],
    });
  });
});

describe('position_based', () => {
  test('gives a single touch all', () => {
    expect(shares([touch('Only', 3)], 'position_based')).toEqual({ Only: [1, 1_000] });
  });

  test('gives each of two touches half', () => {
    expect(shares([touch('First', 3), touch('Last', 1)], 'position_based')).toEqual({
      First: [0.5, 500],
      Last: [0.5, 500],
    });
  });

  test('gives the single touch between two others 20 %', () => {
    expect(shares([touch('First', 3), touch('Middle', 2), touch('Last', 1)], 'position_based')).toEqual({
      First: [0.4, 400],
      Last: [0.4, 400],
      Middle: [0.2, 200],
    });
  });
});

describe('touches of a deal', () => {
  test('are events of its leads before it was closed: those at that moment, later ones and those of others are not', () => {
    const touches = [
      touch('Before', 0.001),
      touch('At', 0),
      touch('After', -1),
      touch('Other', 1, { lead_id: idOf('bob') }),
    ];
    expect(shares(touches, 'linear')).toEqual({ Before: [1, 1_000] });
  });

  test('older than the days to look back do not count', () => {
    expect(shares([touch('New', 30), touch('Old', 30.01)], 'linear', { lookback_days: 30 })).toEqual({
      New: [1, 1_000],
    });
  });

  test('of all of its leads count as one row in their order of time', () => {
    const touches = [touch('Of ada', 2), touch('Of bob', 3, { lead_id: idOf('bob') })];
    const deals = [deal({ leads: [idOf('ada'), idOf('bob')] })];
    expect(shares(touches, 'first_touch', { deals })).toMatchObject({ 'Of bob': [1, 1_000] });
    expect(insightsOf(credited(touches, 'linear', { deals }), shown)).toMatchObject({ leads: 2, touches: 2 });
  });
});

describe('sums', () => {
  test('keep currencies apart, and deals without an amount or a currency', () => {
    const deals = [
      deal({ id: 'D-1', amount: 100.1, currency: 'EUR' }),
      deal({ id: 'D-2', amount: 0.2, currency: 'EUR' }),
      deal({ id: 'D-3', amount: 50, currency: 'USD' }),
      deal({ id: 'D-4', amount: 7, currency: null }),
      deal({ id: 'D-5', amount: null, currency: 'EUR' }),
      deal({ id: 'D-6', amount: 9, currency: 'EUR', leads: [] }),
    ];
    const found = insightsOf(credited([touch('Visit', 1)], 'linear', { deals }), shown);
    expect(found).toMatchObject({
      deals: 6,
      amounts: [
        { currency: 'EUR', amount: 109.3, deals: 3 },
        { currency: 'USD', amount: 50, deals: 1 },
        { currency: null, amount: 7, deals: 1 },
      ],
      untouched: { deals: 1, amounts: [{ currency: 'EUR', amount: 9, deals: 1 }] },
      leads: 1,
      touches: 5,
    });
    expect(found.event_types.data).toEqual([
      {
        value: 'Visit',
        credit: 5,
        touches: 5,
        deals: 5,
        leads: 1,
        amounts: [
          { currency: 'EUR', amount: 100.3 },
          { currency: 'USD', amount: 50 },
          { currency: null, amount: 7 },
        ],
      },
    ]);
  });

  test('take both spellings of an event type as one, and show the better one', () => {
    const touches = [touch('page_view', 2), touch('Page View', 1)];
    expect(shares(touches, 'linear')).toEqual({ 'Page View': [1, 1_000] });
  });

  test('by campaign and path have a row without a value, which comes last of equal ones', () => {
    const touches = [
      touch('A', 4, { campaign: 'Spring', path: '/pricing' }),
      touch('B', 3, { campaign: 'Spring' }),
      touch('C', 2),
      touch('D', 1),
    ];
    const { campaigns, paths } = insightsOf(credited(touches, 'linear'), shown);
    expect(campaigns.data).toMatchObject([
      { value: 'Spring', credit: 0.5 },
      { value: null, credit: 0.5 },
    ]);
    expect(paths.data).toMatchObject([
      { value: null, credit: 0.75 },
      { value: '/pricing', credit: 0.25 },
    ]);
  });

  test('beyond a page are together in `other`', () => {
    const touches = ['A', 'B', 'C', 'D'].map((name, index) => touch(name, 9 - index));
    const { event_types } = insightsOf(credited(touches, 'linear'), { page: 2, limit: 1 });
    expect(event_types).toMatchObject({
      data: [{ value: 'B', credit: 0.25 }],
      total: 4,
      other: { values: 3, credit: 0.75, touches: 3, amounts: [{ currency: 'EUR', amount: 750 }] },
    });
  });
});

describe('the deals of a number', () => {
  const touches = [
    touch('Visit', 3, { campaign: 'Spring' }),
    touch('Call', 2, { lead_id: idOf('bob') }),
    touch('Visit', 1, { id: idOf('second visit') }),
  ];
  const deals = [
    deal({ leads: [idOf('ada'), idOf('bob')] }),
    deal({ id: 'D-2', closed_at: '2026-04-01T00:00:00.000Z', amount: null }),
    deal({ id: 'D-3', leads: [] }),
  ];
  const found = credited(touches, 'linear', { deals });

  test('have their part of the credit, and the leads whose touches it is of', () => {
    expect(dealsOf(found, { by: 'event_type', value: 'visit' })).toEqual([
      {
        ...{ deal_id: 'D-2', stage: 'won', amount: null, currency: 'EUR' },
        ...{ closed_at: '2026-04-01T00:00:00.000Z', credit: 1, credited_amount: null, touches: 2 },
        leads: [{ lead_id: idOf('ada'), credit: 1, touches: 2 }],
      },
      {
        ...{ deal_id: 'D-1', stage: 'won', amount: 1_000, currency: 'EUR', closed_at },
        ...{ credit: 0.666667, credited_amount: 666.6667, touches: 2 },
        leads: [{ lead_id: idOf('ada'), credit: 0.666667, touches: 2 }],
      },
    ]);
  });

  test('without a value are those of touches that have none', () => {
    expect(dealsOf(found, { by: 'campaign' })).toMatchObject([
      { deal_id: 'D-1', touches: 2, leads: [{ lead_id: idOf('bob') }, { lead_id: idOf('ada') }] },
      { deal_id: 'D-2', touches: 1 },
    ]);
  });

  test('are those without a touch, or all', () => {
    expect(dealsOf(found, { by: 'untouched' })).toMatchObject([{ deal_id: 'D-3', credit: 0, leads: [] }]);
    expect(dealsOf(found, {}).map(({ deal_id }) => deal_id)).toEqual(['D-2', 'D-1', 'D-3']);
  });
});

describe('laws of all models', () => {
  const letter = fc.constantFrom('a', 'b', 'c', 'd');
  const someTouch = fc.record({
    lead_id: letter.map(idOf),
    at: fc.integer({ min: 0, max: 5_000 }).map((hours) => new Date(hours * 3_600_000).toISOString()),
    event_type: fc.constantFrom('Visit', 'visit', 'Call', 'Demo'),
    campaign: fc.option(letter, { nil: undefined }),
    path: fc.option(letter, { nil: undefined }),
  });
  const someDeal = fc.record({
    stage: fc.constant('won'),
    amount: fc.option(
      fc.oneof(fc.integer({ min: -1e9, max: 1e9 }), fc.double({ min: -1e9, max: 1e9, noNaN: true })),
    ),
    currency: fc.option(fc.constantFrom('EUR', 'USD')),
    closed_at: fc.integer({ min: 0, max: 5_000 }).map((hours) => new Date(hours * 3_600_000).toISOString()),
    leads: fc.uniqueArray(letter.map(idOf)),
  });
  const world = fc.record({
    touches: fc
      .array(someTouch, { maxLength: 40 })
      .map((some) => some.map((one, index): Touch => ({ ...one, id: idOf(String(index)) }))),
    deals: fc
      .array(someDeal, { maxLength: 8 })
      .map((some) => some.map((one, index): WonDeal => ({ ...one, id: `D-${String(index)}` }))),
    model: fc.constantFrom(...attributionModels),
    half_life_days: fc.double({ min: 0.01, max: 3_650, noNaN: true }),
    limit: fc.integer({ min: 1, max: 4 }),
    page: fc.integer({ min: 1, max: 3 }),
  });
  const units = (value: number, places: number) => BigInt(Math.round(value * 10 ** places));

  test('credit and amounts of each list, with the untouched deals, add up to the deals and their amounts exactly', () => {
    fc.assert(
      fc.property(world, ({ touches, deals, model, half_life_days, page, limit }) => {
        const found = insightsOf(credited(touches, model, { deals, half_life_days }), { page, limit });
        for (const { data, other } of [found.event_types, found.campaigns, found.paths]) {
          const credit = [...data, other].reduce((sum, row) => sum + units(row.credit, creditPlaces), 0n);
          expect(credit + units(found.untouched.deals, creditPlaces)).toBe(units(deals.length, creditPlaces));
          for (const { currency, amount } of found.amounts) {
            const parts = [...data, other, found.untouched].flatMap(({ amounts }) =>
              amounts.filter((one) => one.currency === currency),
            );
            const sum = parts.reduce((before, part) => before + units(part.amount, amountPlaces), 0n);
            expect(sum).toBe(units(amount, amountPlaces));
          }
        }
      }),
    );
  });

  test('the deals and leads of a number add up to it', () => {
    fc.assert(
      fc.property(world, fc.constantFrom(...attributionDimensions), (some, by) => {
        const deals = credited(some.touches, some.model, some);
        const found = insightsOf(deals, shown);
        const rows = { event_type: found.event_types, campaign: found.campaigns, path: found.paths }[by];
        for (const { value, credit, touches, deals: number, leads } of rows.data) {
          const listed = dealsOf(deals, { by, value: value ?? undefined });
          const sum = (credits: { credit: number }[]) =>
            credits.reduce((before, one) => before + units(one.credit, creditPlaces), 0n);
          expect(listed).toHaveLength(number);
          expect(sum(listed)).toBe(units(credit, creditPlaces));
          expect(sum(listed.flatMap((one) => one.leads))).toBe(units(credit, creditPlaces));
          expect(listed.reduce((before, one) => before + one.touches, 0)).toBe(touches);
          expect(new Set(listed.flatMap((one) => one.leads.map(({ lead_id }) => lead_id))).size).toBe(leads);
        }
      }),
    );
  });

  test('the order in which touches are read changes nothing', () => {
    fc.assert(
      fc.property(world, ({ touches, deals, model, half_life_days }) => {
        const options = { deals, half_life_days };
        expect(insightsOf(credited(touches.toReversed(), model, options), shown)).toEqual(
          insightsOf(credited(touches, model, options), shown),
        );
      }),
    );
  });

  test('no touch gets less than nothing, and none of a linear deal more than a millionth above another', () => {
    fc.assert(
      fc.property(world, ({ touches, deals, model, half_life_days }) => {
        for (const found of credited(touches, model, { deals, half_life_days })) {
          const credits = found.touches.map(({ credit }) => credit);
          expect(credits.every((credit) => credit >= 0n)).toBe(true);
          if (model !== 'linear' || credits.length === 0) continue;
          const [least = 0n, most = 0n] = [credits.toSorted(compare)[0], credits.toSorted(compare).at(-1)];
          expect(most - least <= 1n).toBe(true);
        }
      }),
    );
  });
});

const compare = (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0);

describe('apportion', () => {
  test('gives what is left to the largest remainders, and of equal ones to the earlier', () => {
    expect(apportion(10n, [1n, 1n, 1n])).toEqual([4n, 3n, 3n]);
    expect(apportion(1_000_000n, [1n, 2n, 4n])).toEqual([142_857n, 285_714n, 571_429n]);
    expect(apportion(-10n, [1n, 1n, 1n])).toEqual([-4n, -3n, -3n]);
    expect(apportion(0n, [1n, 5n])).toEqual([0n, 0n]);
  });

  test('gives parts that add up to the total, each within one of its exact share', () => {
    const weights = fc
      .array(fc.bigInt({ min: 0n, max: 2n ** 50n }), { minLength: 1, maxLength: 30 })
      .filter((some) => some.some((weight) => weight > 0n));
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), weights, (total, some) => {
        const parts = apportion(total, some);
        const sum = some.reduce((before, weight) => before + weight, 0n);
        expect(parts.reduce((before, part) => before + part, 0n)).toBe(total);
        parts.forEach((part, index) => {
          const difference = part * sum - total * (some[index] ?? 0n);
          expect(difference < sum && difference > -sum).toBe(true);
        });
      }),
    );
  });
});

test('more than 1,000 deals, or 5,000 leads of them, are refused with what to narrow', () => {
  const many = (deals: number, leads: number) =>
    Array.from({ length: deals }, (_, index) =>
      deal({ leads: Array.from({ length: leads }, (__, nth) => idOf(`${String(index)} ${String(nth)}`)) }),
    );
  expect(withinLimits(many(1_000, 5))).toHaveLength(1_000);
  expect(() => withinLimits(many(1_001, 0))).toThrow(/More than 1000 deals .* Ask for a shorter time/);
  expect(() => withinLimits(many(1_000, 6))).toThrow(/more than 5000 leads .* Ask for a shorter time/);
});

test('amounts are counted to four decimal places, whatever their size', () => {
  const back = (amount: number) => numberOf(amountUnits(amount), amountPlaces);
  expect([12_500.5, 0.1, -0.00004, 1.00005, 123_456_789.1234, -7.25].map(back)).toEqual([
    12_500.5, 0.1, 0, 1.0001, 123_456_789.1234, -7.25,
  ]);
  expect([1e300, Number.MAX_VALUE, -1e21, 5e-324].map(back)).toEqual([1e300, Number.MAX_VALUE, -1e21, 0]);
});
