import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLinger } from './linger.js';

const longest = 100;

describe('an input that was read to its end', () => {
  test('lingers from the beginning of a batch until its cycle is over', () => {
    const linger = createLinger(0);
    linger.arrived(0, longest);
    linger.handled(0, 10, () => 40);
    expect(linger.endsAt()).toBe(40);
    // The next batch begins late, and its cycle with it.
    linger.arrived(30, longest);
    linger.handled(45, 60, () => 60);
    expect(linger.endsAt()).toBe(105);
  });

  test('counts silence as linger, once', () => {
    const linger = createLinger(0);
    linger.arrived(70, longest);
    linger.handled(70, 80, () => 40);
    expect(linger.endsAt()).toBe(70);
    linger.arrived(80, longest);
    linger.handled(80, 90, () => 40);
    expect(linger.endsAt()).toBe(90);
    linger.arrived(90, longest);
    linger.handled(90, 100, () => 40);
    expect(linger.endsAt()).toBe(130);
  });

  test('counts at most one longest cycle of a long silence', () => {
    const linger = createLinger(0);
    linger.arrived(10_000, longest);
    linger.handled(10_000, 10_010, () => 40);
    linger.arrived(20_000, longest);
    linger.handled(20_000, 20_010, () => 150);
    expect(linger.endsAt()).toBe(20_050);
  });

  test('lingers by the average of recent batches, so that one slow batch changes little', () => {
    const linger = createLinger(0);
    const seen: number[] = [];
    let now = 0;
    for (const took of [10, 10, 200, 10]) {
      linger.handled(now, now + took, (batchMs) => {
        seen.push(batchMs);
        return 0;
      });
      now += took;
    }
    expect(seen).toEqual([10, 10, 48, expect.closeTo(40.4)]);
  });

  test('does not linger while there is more to read', () => {
    const linger = createLinger(0);
    linger.arrived(0, longest);
    linger.handled(0, 10, () => 40);
    linger.skip();
    expect(linger.endsAt()).toBe(0);
  });

  test('limits the share of time that batches take, except for one longest cycle', () => {
    const arrival = fc.record({
      after: fc.integer({ min: 0, max: 200 }),
      takes: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 30 }), (arrivals) => {
        const linger = createLinger(0);
        let now = 0;
        let cycles = 0;
        for (const { after, takes } of arrivals) {
          now += after;
          linger.arrived(now, longest);
          const begun = Math.max(now, linger.endsAt());
          expect(cycles).toBeLessThanOrEqual(begun + longest);
          now = begun + takes;
          linger.handled(begun, now, (batchMs) => {
            const cycle = Math.min(batchMs * 4, longest);
            cycles += cycle;
            return cycle;
          });
        }
      }),
    );
  });
});
