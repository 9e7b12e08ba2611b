// Given a lead and decay rules, then the ticks that take points are those of the rules, whole points at a time.
import { describe, expect, test } from '@jest/globals';
import type { DecayPeriod } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { afterTick, compileDecays, nextTick, ticksUpTo, type DecayingLead } from './ticks.js';

const rule = '11111111-1111-4111-8111-111111111111';
const other = '22222222-2222-4222-8222-222222222222';
const website = '33333333-3333-4333-8333-333333333333';
const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number, 10)).toISOString();

const points = (more: Partial<DecayPeriod> = {}): DecayPeriod => ({
  rule_id: rule,
  rule_version: 1,
  mode: 'inactivity_points',
  points: -5,
  interval_days: 7,
  floor: 0,
  since: day(-100),
  ...more,
});
const share = (more: Partial<DecayPeriod>): DecayPeriod => {
  const period: DecayPeriod = points(more);
  delete period.points;
  return period;
};
const lead = (score: number, more: Partial<DecayingLead> = {}): DecayingLead => ({
  score,
  rulesets: [],
  last_scored_at: day(0),
  ...more,
});

const run = (of: DecayingLead, periods: DecayPeriod[], days: number) => {
  const { ticks, lead: after } = ticksUpTo(of, compileDecays(periods), day(days));
  return { ticks: ticks.map(({ tick }) => [tick.at, tick.number, tick.points]), score: after.score };
};

describe('inactivity points', () => {
  test('are taken after each interval without a scored event, down to the floor', () => {
    expect(run(lead(12), [points()], 30)).toEqual({
      ticks: [
        [day(7), 1, -5],
        [day(14), 2, -5],
        [day(21), 3, -2],
      ],
      score: 0,
    });
    expect(run(lead(12), [points({ floor: 10 })], 30)).toEqual({ ticks: [[day(7), 1, -2]], score: 10 });
    expect(run(lead(-3), [points()], 30)).toEqual({ ticks: [], score: -3 });
    expect(run(lead(-3, {}), [points({ floor: -10 })], 30).score).toBe(-10);
  });

  test('a lead without a scored event loses nothing', () => {
    expect(nextTick(lead(12, { last_scored_at: undefined }), compileDecays([points()]))).toBeNull();
  });

  test('ticks before the rule, after its end, or before the last decision on the lead are none', () => {
    expect(run(lead(100), [points({ since: day(7) })], 15).ticks).toEqual([[day(14), 2, -5]]);
    expect(run(lead(100), [points({ until: day(7) })], 30).ticks).toEqual([[day(7), 1, -5]]);
    expect(run(lead(100, { decay: { since: day(20) } }), [points()], 21).ticks).toEqual([[day(21), 3, -5]]);
  });

  test('of a ruleset that gave nothing stop at its floor below zero', () => {
    const period = points({ points: -2, floor: -3, ruleset_id: website });
    const { lead: after } = ticksUpTo(lead(50), compileDecays([period]), day(90));
    expect(after).toMatchObject({ score: 47, rulesets: [{ ruleset_id: website, score: -3 }] });
  });

  test('of a ruleset follow its score, and come off both', () => {
    const of = lead(50, { rulesets: [{ ruleset_id: website, score: 8 }] });
    const { lead: after } = ticksUpTo(of, compileDecays([points({ ruleset_id: website })]), day(30));
    expect(after).toMatchObject({ score: 42, rulesets: [{ ruleset_id: website, score: 0 }] });
  });
});

describe('a share', () => {
  test('per cent of the score at each tick', () => {
    const period = share({ mode: 'percent_interval', percent: 10 });
    expect(run(lead(100), [period], 21).ticks.map(([, , taken]) => taken)).toEqual([-10, -9, -8]);
  });

  test('100 per cent leaves the floor', () => {
    expect(run(lead(40), [share({ mode: 'percent_interval', percent: 100, floor: 15 })], 7).score).toBe(15);
    expect(run(lead(40), [share({ mode: 'percent_interval', percent: 100 })], 7).score).toBe(0);
  });

  test('of a half-life leaves half, whatever the interval: no rounding adds up', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 100_000 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 4 }),
        (score, intervals, interval_days) => {
          const half_life_days = intervals * interval_days;
          const period = share({ mode: 'half_life', half_life_days, interval_days });
          for (const halves of [1, 2, 3]) {
            const after = run(lead(score), [period], half_life_days * halves).score;
            expect(Math.abs(after - score / 2 ** halves)).toBeLessThanOrEqual(0.51);
          }
        },
      ),
    );
  });

  test('a small score fades too', () => {
    const period = share({ mode: 'half_life', half_life_days: 30, interval_days: 1 });
    expect(run(lead(10), [period], 30).score).toBe(5);
    expect(run(lead(10), [period], 400).score).toBe(0);
    expect(run(lead(1), [period], 31).score).toBe(0);
  });
});

test('two rules tick on their own, those of one moment in the order of their ids', () => {
  const periods = [
    points({ rule_id: other, points: -1, interval_days: 2 }),
    points({ interval_days: 4 }),
  ].sort((a, b) => (a.rule_id < b.rule_id ? -1 : 1));
  expect(run(lead(20), periods, 4).ticks).toEqual([
    [day(2), 1, -1],
    [day(4), 1, -5],
    [day(4), 2, -1],
  ]);
});

const anyPeriod = fc
  .record({
    mode: fc.constantFrom('inactivity_points' as const, 'percent_interval' as const, 'half_life' as const),
    amount: fc.integer({ min: 1, max: 60 }),
    interval_days: fc.integer({ min: 1, max: 20 }),
    floor: fc.integer({ min: -20, max: 20 }),
    since: fc.integer({ min: -5, max: 40 }),
    length: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  })
  .map(({ mode, amount, since, length, ...rest }): DecayPeriod => ({
    ...share({ ...rest, mode, since: day(since) }),
    ...(mode === 'inactivity_points' && { points: -amount }),
    ...(mode === 'percent_interval' && { percent: amount }),
    ...(mode === 'half_life' && { half_life_days: amount }),
    ...(length !== undefined && { until: day(since + length) }),
  }));

test('ticks come in order, lower the score, hold the floor, and are the same in whatever steps they are run', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -50, max: 5_000 }),
      fc.uniqueArray(anyPeriod, { maxLength: 3, selector: ({ mode }) => mode }),
      fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 6 }),
      (score, periods, stops) => {
        const named = periods.map((period, index) => ({
          ...period,
          rule_id: rule.slice(0, -1) + String(index),
        }));
        const decays = compileDecays(named);
        const { ticks, lead: whole } = ticksUpTo(lead(score), decays, day(120));
        let before = { at: '', score };
        for (const { tick, after } of ticks) {
          expect(tick.at >= before.at).toBe(true);
          expect(tick.points).toBeLessThan(0);
          expect(after.score).toBe(before.score + tick.points);
          expect(after.score).toBeGreaterThanOrEqual(Math.min(score, tick.period.floor));
          expect(tick.at > tick.period.since && tick.at <= (tick.period.until ?? day(1_000))).toBe(true);
          before = { at: tick.at, score: after.score };
        }
        let inSteps = lead(score);
        for (const stop of [...stops.sort((a, b) => a - b), 120])
          inSteps = ticksUpTo(inSteps, decays, day(stop)).lead;
        expect(inSteps).toEqual(whole);
        const one = nextTick(lead(score), decays);
        if (one)
          expect(nextTick(afterTick(lead(score), one), decays)?.at ?? day(9_999) >= one.at).toBeTruthy();
      },
    ),
  );
});
