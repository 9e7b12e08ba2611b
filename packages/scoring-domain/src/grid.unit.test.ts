// The cell of a lead in the grid of profile by engagement.
import { describe, expect, test } from '@jest/globals';
import { gridCells, largestScore, smallestScore, type Grid } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { cellOf, rangesOf } from './grid.js';

const grid: Grid = { profile: { A: 60, B: 30, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } };

describe('a lead', () => {
  test.each([
    [60, 80, 'A1'],
    [59, 80, 'B1'],
    [30, 79, 'B2'],
    [10, 40, 'C2'],
    [9, 39, 'D3'],
    [-5, 9, 'D4'],
    [largestScore, smallestScore, 'A4'],
  ])('with a profile score of %i and an engagement score of %i is in %s', (profile, engagement, cell) => {
    expect(cellOf(grid, { profile, engagement })).toBe(cell);
  });

  test('without a profile score counts as 0', () => {
    expect(cellOf(grid, { profile: undefined, engagement: 80 })).toBe('D1');
    expect(
      cellOf({ ...grid, profile: { A: 0, B: -10, C: -20 } }, { profile: undefined, engagement: 0 }),
    ).toBe('A4');
  });
});

const score = fc.oneof(
  fc.integer({ min: -50, max: 50 }),
  fc.constantFrom(smallestScore, largestScore),
  fc.integer({ min: smallestScore, max: largestScore }),
);
const falling = fc
  .uniqueArray(score, { minLength: 3, maxLength: 3 })
  .map((bounds) => bounds.sort((a, b) => b - a) as [number, number, number]);
const anyGrid = fc.tuple(falling, falling).map(([[A, B, C], [one, two, three]]): Grid => ({
  profile: { A, B, C },
  engagement: { 1: one, 2: two, 3: three },
}));

test('every pair of scores is in exactly one cell: that whose ranges hold both', () => {
  fc.assert(
    fc.property(anyGrid, score, score, (any, profile, engagement) => {
      const holding = gridCells.filter((cell) => {
        const ranges = rangesOf(any, cell);
        return (
          ranges.profile.low <= profile &&
          profile <= ranges.profile.high &&
          ranges.engagement.low <= engagement &&
          engagement <= ranges.engagement.high
        );
      });
      expect(holding).toEqual([cellOf(any, { profile, engagement })]);
    }),
  );
});

test('a higher score never gives a worse grade', () => {
  fc.assert(
    fc.property(anyGrid, score, score, score, (any, low, high, other) => {
      const [less, more] = low < high ? [low, high] : [high, low];
      const letterOf = (profile: number) => cellOf(any, { profile, engagement: other }).charAt(0);
      const digitOf = (engagement: number) => cellOf(any, { profile: other, engagement }).charAt(1);
      expect(letterOf(more) <= letterOf(less)).toBe(true);
      expect(digitOf(more) <= digitOf(less)).toBe(true);
    }),
  );
});
