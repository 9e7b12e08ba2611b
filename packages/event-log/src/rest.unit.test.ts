import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRest } from './rest.js';

const longest = 100;

describe('an input that was read to its end', () => {
  test('rests from the beginning of a batch until its cycle is over', () => {
    const rest = createRest(0);
    rest.came(0, longest);
    rest.handled(0, 10, () => 40);
    expect(rest.until()).toBe(40);
    // What came meanwhile is handled a little late: the next cycle begins then.
    rest.came(30, longest);
    rest.handled(45, 60, () => 60);
    expect(rest.until()).toBe(105);
  });

  test('has rested while nothing came, and rests that much less, once', () => {
    const rest = createRest(0);
    rest.came(70, longest);
    rest.handled(70, 80, () => 40);
    expect(rest.until()).toBe(70);
    rest.came(80, longest);
    rest.handled(80, 90, () => 40);
    expect(rest.until()).toBe(90);
    rest.came(90, longest);
    rest.handled(90, 100, () => 40);
    expect(rest.until()).toBe(130);
  });

  test('counts of a long silence no more than one longest cycle', () => {
    const rest = createRest(0);
    rest.came(10_000, longest);
    rest.handled(10_000, 10_010, () => 40);
    rest.came(20_000, longest);
    rest.handled(20_000, 20_010, () => 150);
    expect(rest.until()).toBe(20_050);
  });

  test('rests as batches take lately, whatever held up the last one', () => {
    const rest = createRest(0);
    const seen: number[] = [];
    let now = 0;
    for (const took of [10, 10, 200, 10]) {
      rest.handled(now, now + took, (batchMs) => {
        seen.push(batchMs);
        return 0;
      });
      now += took;
    }
    expect(seen).toEqual([10, 10, 48, expect.closeTo(40.4)]);
  });

  test('does not rest while there is more to read', () => {
    const rest = createRest(0);
    rest.came(0, longest);
    rest.handled(0, 10, () => 40);
    rest.end();
    expect(rest.until()).toBe(0);
  });

  test('has batches that take together no more of the time than each of its cycle, but for one longest', () => {
    const arrival = fc.record({
      after: fc.integer({ min: 0, max: 200 }),
      takes: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 30 }), (arrivals) => {
        const rest = createRest(0);
        let now = 0;
        let cycles = 0;
        for (const { after, takes } of arrivals) {
          now += after;
          rest.came(now, longest);
          const begun = Math.max(now, rest.until());
          expect(cycles).toBeLessThanOrEqual(begun + longest);
          now = begun + takes;
          rest.handled(begun, now, (batchMs) => {
            const cycle = Math.min(batchMs * 4, longest);
            cycles += cycle;
            return cycle;
          });
        }
      }),
    );
  });
});
