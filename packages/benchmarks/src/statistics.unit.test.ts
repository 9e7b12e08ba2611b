import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { latenciesOf, median, percentile } from './statistics.js';

describe('percentiles', () => {
  test('are values that were measured, by nearest rank', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect([0.5, 0.9, 0.99, 1].map((share) => percentile(hundred, share))).toEqual([50, 90, 99, 100]);
  });

  test('are not exceeded by the share of values that they name', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true, min: 0, max: 1e6 }), { minLength: 1 }),
        fc.double({ noNaN: true, min: 0, max: 1 }),
        (values, share) => {
          const bound = percentile(
            values.toSorted((a, b) => a - b),
            share,
          );
          const within = values.filter((value) => value <= bound).length;
          return within >= share * values.length && values.includes(bound);
        },
      ),
    );
  });

  test('do not depend on the order of the values', () => {
    expect(latenciesOf(Float64Array.of(3, 1, 2))).toEqual({ count: 3, p50: 2, p90: 3, p99: 3, max: 3 });
  });
});

describe('the median', () => {
  test('is the middle value, or the mean of the two in the middle', () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  test('of no values is refused', () => {
    expect(() => median([])).toThrow(RangeError);
  });
});
