// The search finds the rate at which a contender breaks the limit, for any such rate.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findCapacity, type Trial } from './find-capacity.js';

/** A contender whose latency is proportional to the rate, and that gives up far above its capacity; long trials may cost it more. */
function contender(most: number, longTrialsCost = 1) {
  return (eventsPerSecond: number, isHeld: boolean): Promise<Trial> => {
    const p99Ms = (900 * eventsPerSecond * (isHeld ? longTrialsCost : 1)) / most;
    return Promise.resolve({ eventsPerSecond, isHeld, gaveUp: p99Ms > 3_000, p50Ms: p99Ms / 2, p99Ms });
  };
}

test('the rate found is within 20 % of the capacity, for each limit, after few trials', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 200, max: 200_000 }), async (most) => {
      const { trials, held } = await findCapacity([1_000, 250], 250, contender(most));
      for (const { limitMs, eventsPerSecond } of held) {
        const possible = (limitMs * most) / 900;
        expect(eventsPerSecond).toBeLessThanOrEqual(possible + 1);
        expect(eventsPerSecond).toBeGreaterThanOrEqual(possible * 0.8 - 1);
      }
      expect(trials.length).toBeLessThanOrEqual(30);
    }),
    { numRuns: 200 },
  );
});

test('a rate counts only where a long trial held it', async () => {
  const { held, trials } = await findCapacity([1_000], 250, contender(4_000, 1.3));
  const [first] = held;
  expect(first?.eventsPerSecond).toBeLessThanOrEqual(4_000 / 1.3 / 0.9);
  expect(
    trials.find((one) => one.isHeld && one.eventsPerSecond === first?.eventsPerSecond)?.p99Ms,
  ).toBeLessThan(1_000);
});

test('for a contender that holds no rate, the result is 0', async () => {
  expect((await findCapacity([1_000, 250], 250, contender(1))).held).toEqual([
    { limitMs: 1_000, eventsPerSecond: 0 },
    { limitMs: 250, eventsPerSecond: 0 },
  ]);
});
