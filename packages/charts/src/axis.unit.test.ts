// The marks of an axis are round numbers at equal distances around the values.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { axisMarks, compactNumber } from './axis.js';

test.each([
  [0, 122, [0, 50, 100, 150]],
  [-17, 72, [-50, 0, 50, 100]],
  [0, 3, [0, 1, 2, 3]],
  [0, 0, [0, 1]],
  [-60, -1, [-60, -40, -20, 0]],
])('from %d to %d they are %j', (lowest, highest, marks) => {
  expect(axisMarks(lowest, highest, 4)).toEqual(marks);
});

test('they hold the values, and are few, for any whole numbers', () => {
  const bound = fc.integer({ min: -2_147_483_648, max: 2_147_483_647 });
  fc.assert(
    fc.property(bound, bound, (one, other) => {
      const [lowest, highest] = [Math.min(one, other), Math.max(one, other)];
      const marks = axisMarks(lowest, highest, 4);
      expect(marks[0]).toBeLessThanOrEqual(lowest);
      expect(marks.at(-1)).toBeGreaterThanOrEqual(highest);
      expect(marks.length).toBeGreaterThanOrEqual(2);
      expect(marks.length).toBeLessThanOrEqual(6);
      expect(marks.every(Number.isInteger)).toBe(true);
      const distances = marks.slice(1).map((mark, index) => mark - (marks[index] ?? 0));
      expect(new Set(distances).size).toBe(1);
    }),
  );
});

test('large numbers are short, and minus is a minus sign', () => {
  expect([1_500, -20, 0].map(compactNumber)).toEqual(['1.5K', '−20', '0']);
});
