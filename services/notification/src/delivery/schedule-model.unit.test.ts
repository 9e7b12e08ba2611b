// Promise 22: retries follow the published schedule.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { delayAfter, publishedSchedule, type FailedTry } from './schedule-model.js';

const failedTry = fc.record({
  notification_id: fc.uuid(),
  attempt: fc.integer({ min: 1, max: 10_000 }),
  tries: fc.integer({ min: 1, max: publishedSchedule.length - 1 }),
});
const isPlain = { reason: 'status' as const };

function scheduledMs(tries: number): number {
  return (publishedSchedule[tries] ?? Number.NaN) * 1_000;
}

describe('the published schedule', () => {
  test('has eight attempts: at once, after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h', () => {
    expect(publishedSchedule).toEqual([0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]);
  });

  test('a retry is within 20 % of its scheduled delay', () => {
    fc.assert(
      fc.property(failedTry, (failed) => {
        const delay = delayAfter(publishedSchedule, { ...failed, ...isPlain });
        const scheduled = scheduledMs(failed.tries);
        expect(delay).toBeGreaterThanOrEqual(0.8 * scheduled - 1);
        expect(delay).toBeLessThanOrEqual(1.2 * scheduled + 1);
      }),
      { numRuns: 1_000 },
    );
  });

  test('retries of different notifications are spread over the whole 20 %', () => {
    const delays = fc
      .sample(fc.uuid(), { numRuns: 1_000, seed: 7 })
      .map((notification_id) =>
        delayAfter(publishedSchedule, { notification_id, attempt: 2, tries: 2, ...isPlain }),
      );
    expect(Math.min(...delays.map(Number))).toBeLessThan(0.82 * 300_000);
    expect(Math.max(...delays.map(Number))).toBeGreaterThan(1.18 * 300_000);
    const mean = delays.reduce<number>((sum, delay) => sum + Number(delay), 0) / delays.length;
    expect(mean).toBeGreaterThan(0.98 * 300_000);
    expect(mean).toBeLessThan(1.02 * 300_000);
  });

  test('the same attempt always has the same delay', () => {
    fc.assert(
      fc.property(failedTry, (failed) => {
        const once = delayAfter(publishedSchedule, { ...failed, ...isPlain });
        expect(delayAfter(publishedSchedule, { ...failed, ...isPlain })).toBe(once);
      }),
    );
  });

  test('an overloaded or slow destination is not retried for at least 60 s', () => {
    fc.assert(
      fc.property(
        failedTry,
        fc.constantFrom<FailedTry['reason']>('rate_limited', 'timeout'),
        (failed, reason) => {
          const delay = delayAfter(publishedSchedule, { ...failed, reason });
          expect(delay).toBeGreaterThanOrEqual(Math.max(60_000, 0.8 * scheduledMs(failed.tries) - 1));
        },
      ),
    );
  });

  test('a Retry-After counts between the schedule’s delay and twice that delay', () => {
    fc.assert(
      fc.property(
        failedTry,
        fc.integer({ min: 0, max: 200_000 }),
        fc.boolean(),
        (failed, retry_after_seconds, isLimited) => {
          const delay = Number(
            delayAfter(publishedSchedule, {
              ...failed,
              reason: isLimited ? 'rate_limited' : 'status',
              retry_after_seconds,
            }),
          );
          const base = Math.max(scheduledMs(failed.tries), isLimited ? 60_000 : 0);
          expect(delay).toBeGreaterThanOrEqual(base);
          expect(delay).toBeLessThanOrEqual(2 * base);
          const asked = retry_after_seconds * 1_000;
          if (asked >= base && asked <= 2 * base) expect(delay).toBe(asked);
        },
      ),
    );
  });

  test('there is no retry after the last attempt', () => {
    expect(
      delayAfter(publishedSchedule, {
        notification_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
        attempt: 8,
        tries: 8,
        ...isPlain,
      }),
    ).toBeNull();
  });

  test('a schedule of seconds has no minimum of 60 s for an overloaded destination', () => {
    const delay = delayAfter([0, 1, 2], {
      notification_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
      attempt: 1,
      tries: 1,
      reason: 'rate_limited',
    });
    expect(delay).toBeGreaterThanOrEqual(2_000);
    expect(delay).toBeLessThanOrEqual(2_400);
  });
});
