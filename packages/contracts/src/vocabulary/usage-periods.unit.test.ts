// Usage by hour and by day are two views of the same counts.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  dayMs,
  hourMs,
  usageCellsIn,
  usageDaysOf,
  usagePeriodsOf,
  usagePlaceOf,
  usageTimeOf,
  type UsageGranularity,
} from './usage-periods.js';

const moment = fc.integer({ min: 1_700_000_000_000, max: 1_710_000_000_000 });
const granularity = fc.constantFrom<UsageGranularity>('hour', 'day');

describe('the time of usage', () => {
  test('has every moment that was asked for, in whole periods, and less than one period more at each end', () => {
    fc.assert(
      fc.property(granularity, moment, fc.integer({ min: 0, max: 40 * dayMs }), (by, from, length) => {
        const time = usageTimeOf(by, from, from + length);
        const period = by === 'hour' ? hourMs : dayMs;
        expect(time.from).toBeLessThanOrEqual(from);
        expect(time.to).toBeGreaterThanOrEqual(from + length);
        expect(from - time.from).toBeLessThan(period);
        expect(time.to - from - length).toBeLessThanOrEqual(period);
        const periods = usagePeriodsOf(time);
        expect([periods[0], (periods.at(-1) ?? 0) + period]).toEqual([time.from, time.to]);
      }),
    );
  });

  test('counts each moment in exactly one period, and the hours of a day add up to the day', () => {
    fc.assert(
      fc.property(
        fc.array(moment, { maxLength: 60 }),
        moment,
        fc.integer({ min: 1, max: 20 * dayMs }),
        (moments, from, length) => {
          const days = new Map<number, Record<string, number>>();
          for (const one of moments) {
            const { day, hour } = usagePlaceOf(one);
            const hours = days.get(day) ?? {};
            hours[String(hour)] = (hours[String(hour)] ?? 0) + 1;
            days.set(day, hours);
          }
          const time = usageTimeOf('day', from, from + length);
          const counted = (by: UsageGranularity) => {
            const sums = new Map<number, number>();
            for (const [day, hours] of days)
              for (const [period, n] of usageCellsIn({ ...time, granularity: by }, day, hours))
                sums.set(period, (sums.get(period) ?? 0) + n);
            return sums;
          };
          const [byDay, byHour] = [counted('day'), counted('hour')];
          for (const day of usagePeriodsOf(time)) {
            const expected = moments.filter((one) => one >= day && one < day + dayMs).length;
            expect(byDay.get(day) ?? 0).toBe(expected);
            const hours = [...byHour].filter(([hour]) => hour >= day && hour < day + dayMs);
            expect(hours.reduce((sum, [, n]) => sum + n, 0)).toBe(expected);
          }
          const { first, last } = usageDaysOf(time);
          for (const day of byDay.keys()) expect(day >= first && day <= last).toBe(true);
        },
      ),
    );
  });
});
