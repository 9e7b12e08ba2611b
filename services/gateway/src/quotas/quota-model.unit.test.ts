// The arithmetic of quotas: for any processes, requests, losses and delays, never more than the quota, and nothing that was granted is lost.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isNearlyUsed, quotaPeriodsOf, takeQuota, usedOf, type QuotaShare } from './quota-model.js';

const dayMs = 86_400_000;
const month = Date.parse('2026-03-01T00:00:00.000Z');

describe('a quota', () => {
  test('is never exceeded, on no day and in no month, and all that fits is granted', () => {
    const limit = fc.option(fc.integer({ min: 1, max: 60 }));
    const request = fc.record({
      process: fc.constantFrom('a', 'b', 'c'),
      day: fc.nat(2),
      wanted: fc.integer({ min: 1, max: 12 }),
      isWhole: fc.boolean(),
    });
    fc.assert(
      fc.property(limit, limit, fc.array(request, { maxLength: 60 }), (day, inMonth, requests) => {
        let shares: QuotaShare[] = [];
        const taken = new Map<string, number>();
        const granted = [0, 0, 0];
        for (const [write, one] of requests.entries()) {
          const key = `${one.process} ${String(one.day)}`;
          const before = taken.get(key) ?? 0;
          const at = month + one.day * dayMs;
          const outcome = takeQuota(
            shares,
            { day, month: inMonth },
            { ...one, day: at, taken: before, write: write + 1 },
          );
          expect(outcome).not.toBeNull();
          if (!outcome) return;
          const room = Math.min(
            (day ?? Infinity) - (granted[one.day] ?? 0),
            (inMonth ?? Infinity) - granted.reduce((sum, n) => sum + n, 0),
          );
          expect(outcome.granted).toBe(
            one.isWhole ? (one.wanted <= room ? one.wanted : 0) : Math.min(one.wanted, room),
          );
          granted[one.day] = (granted[one.day] ?? 0) + outcome.granted;
          taken.set(key, before + outcome.granted);
          shares = outcome.shares;
          expect(usedOf(shares, at).dayUsed).toBe(granted[one.day]);
        }
        expect(usedOf(shares, month).monthUsed).toBe(granted.reduce((sum, n) => sum + n, 0));
      }),
      { numRuns: 500 },
    );
  });

  test('has what was let in while the database was away, and a write that arrives late or twice changes nothing', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ n: fc.integer({ min: 1, max: 9 }), fate: fc.constantFrom('stored', 'lost', 'late') }),
          {
            maxLength: 40,
          },
        ),
        (steps) => {
          let shares: QuotaShare[] = [];
          let taken = 0;
          const late: Parameters<typeof takeQuota>[2][] = [];
          for (const [index, { n, fate }] of steps.entries()) {
            const request = { day: month, process: 'a', taken, wanted: n, isWhole: true, write: index + 1 };
            // The process does not learn the outcome, and lets the request in.
            taken += n;
            if (fate === 'late') late.push(request);
            if (fate === 'stored')
              shares = takeQuota(shares, { day: 1_000, month: null }, request)?.shares ?? shares;
            for (const one of late) {
              const again = takeQuota(shares, { day: 1_000, month: null }, one);
              if (index + 1 > one.write && again === null) continue;
              shares = again?.shares ?? shares;
            }
          }
          const settle = {
            day: month,
            process: 'a',
            taken,
            wanted: 0,
            isWhole: true,
            write: steps.length + 1,
          };
          shares = takeQuota(shares, { day: 1_000, month: null }, settle)?.shares ?? shares;
          for (const one of late) expect(takeQuota(shares, { day: 1_000, month: null }, one)).toBeNull();
          expect(usedOf(shares, month).dayUsed).toBe(steps.reduce((sum, { n }) => sum + n, 0));
        },
      ),
    );
  });

  test('is of the day and month in UTC that have the moment', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), (date) => {
        const { day, month: ofMonth } = quotaPeriodsOf(date.getTime());
        for (const { from, to } of [day, ofMonth]) {
          expect(from).toBeLessThanOrEqual(date.getTime());
          expect(to).toBeGreaterThan(date.getTime());
        }
        expect(day.to - day.from).toBe(dayMs);
        expect(new Date(day.from).toISOString().slice(0, 10)).toBe(date.toISOString().slice(0, 10));
        expect(new Date(ofMonth.from).toISOString().slice(0, 10)).toBe(
          `${date.toISOString().slice(0, 7)}-01`,
        );
        expect(new Date(ofMonth.to).getUTCDate()).toBe(1);
      }),
    );
  });

  test('is nearly used from 80 % on', () => {
    expect([79, 80, 100].map((used) => isNearlyUsed(100, used))).toEqual([false, true, true]);
    expect([0, 1].map((used) => isNearlyUsed(1, used))).toEqual([false, true]);
  });
});
