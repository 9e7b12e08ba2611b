// The pacing of the writes of counted calls, over random arrivals of calls and durations of writes.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { earliestWrite, retryMs, spacingMs, type EndedWrite } from './write-pacing-model.js';

interface Write extends EndedWrite {
  ended: number;
  /** Arrivals of the calls that it counts. */
  arrivals: number[];
}

/** The writes of calls that arrive at these times, one write under way at a time. @param durations of the writes, in turn */
function writesOf(arrivals: readonly number[], durations: readonly number[]): Write[] {
  const writes: Write[] = [];
  let rest = [...arrivals].sort((a, b) => a - b);
  while (rest[0] !== undefined) {
    const before = writes.at(-1) ?? null;
    const began = Math.max(rest[0], before?.ended ?? 0, earliestWrite(before));
    const counted = rest.filter((arrival) => arrival <= began);
    rest = rest.filter((arrival) => arrival > began);
    const ended = began + (durations[writes.length % durations.length] ?? 1);
    writes.push({ began, ended, calls: counted.length, isFailed: false, arrivals: counted });
  }
  return writes;
}

const history = [
  fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 300 }),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
] as const;

describe('the next write of counted calls', () => {
  test('begins with the call of a caller who is alone, however soon it follows the answer to the one before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 50 }),
        history[1],
        (pauses, durations) => {
          // Each call comes when the one before is counted, after a pause.
          const arrivals: number[] = [];
          for (const pause of [0, ...pauses])
            arrivals.push((writesOf(arrivals, durations).at(-1)?.ended ?? 0) + pause);
          for (const { began, arrivals: own } of writesOf(arrivals, durations)) expect(own).toEqual([began]);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('begins 10 ms after one that has counted several, so that at most 100 a second do; no call waits longer than that and a write', () => {
    fc.assert(
      fc.property(...history, (arrivals, durations) => {
        const writes = writesOf(arrivals, durations);
        expect(writes.reduce((sum, { calls }) => sum + calls, 0)).toBe(arrivals.length);
        for (const [n, { began, arrivals: own }] of writes.entries()) {
          const before = writes[n - 1];
          if (before && before.calls > 1) expect(began - before.began).toBeGreaterThanOrEqual(spacingMs);
          if (before) expect(began).toBeGreaterThanOrEqual(before.ended);
          for (const arrival of own)
            expect(began - arrival).toBeLessThanOrEqual(Math.max(spacingMs, ...durations));
        }
        for (const { began } of writes) {
          const several = writes.filter(
            (one) => one.calls > 1 && one.began >= began && one.began < began + 1_000,
          );
          expect(several.length).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('begins a second after one that has failed', () => {
    expect(earliestWrite({ began: 5, calls: 1, isFailed: true })).toBe(5 + retryMs);
    expect(earliestWrite(null)).toBe(-Infinity);
  });
});
