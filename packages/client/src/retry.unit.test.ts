// The bounds of the retry schedule hold for every try.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { defaultSchedule, delayAfter, isWorthRetrying } from './retry.js';

test('a delay is between half the backoff and the maximum, and never below what Retry-After asks', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.option(fc.nat(60)),
      (attempt, random, asked) => {
        const delay = delayAfter(attempt, defaultSchedule, asked === null ? null : String(asked), random);
        expect(delay).toBeGreaterThanOrEqual(
          asked === null ? defaultSchedule.firstDelayMs / 2 : asked * 1_000,
        );
        expect(delay).toBeLessThanOrEqual(Math.max(defaultSchedule.maximumDelayMs, (asked ?? 0) * 1_000));
      },
    ),
  );
});

test('what the caller did wrong is not repeated', () => {
  expect([400, 401, 403, 404, 413, 415, 422].some((status) => isWorthRetrying(status, undefined))).toBe(
    false,
  );
  expect([429, 500, 502, 503, 504].every((status) => isWorthRetrying(status, undefined))).toBe(true);
});

test('Retry-After is understood as seconds and as a date, and what is neither counts for nothing', () => {
  const now = Date.parse('2026-01-31T09:30:00Z');
  const schedule = { attempts: 3, firstDelayMs: 1, maximumDelayMs: 1 };
  expect(delayAfter(1, schedule, '7', 0, now)).toBe(7_000);
  expect(delayAfter(1, schedule, 'Sat, 31 Jan 2026 09:30:05 GMT', 0, now)).toBe(5_000);
  for (const senseless of ['soon', '', '-5', 'Sat, 31 Jan 2026 09:00:00 GMT'])
    expect(delayAfter(1, schedule, senseless, 0, now)).toBeLessThanOrEqual(1);
});

test('a request that is still being answered is asked for again', () => {
  expect(isWorthRetrying(409, 'request_in_progress')).toBe(true);
  expect(isWorthRetrying(409, 'duplicate_name')).toBe(false);
  expect(isWorthRetrying(429, 'quota_used_up')).toBe(false);
});
