// When a change of a score is a crossing of levels.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { crossingOf } from './level-crossing.js';
import { levelHolding, levelOf } from './levels.js';
import { idOf, levelsSet } from './testing/builders.js';

const { levels } = levelsSet([
  ['Cold', null, 9],
  ['Warm', 20, 49],
  ['Hot', 50, null],
]);

describe('a crossing', () => {
  test.each<[what: string, before: number | null, after: number, from: string | null, to: string | null]>([
    ['into the next level', 49, 50, 'Warm', 'Hot'],
    ['over a level', 9, 50, 'Cold', 'Hot'],
    ['down', 50, 49, 'Hot', 'Warm'],
    ['out of all levels', 20, 19, 'Warm', null],
    ['into a level from none', 10, 20, null, 'Warm'],
    ['of a new lead, which comes from no level', null, 0, null, 'Cold'],
  ])('%s', (_, before, after, from, to) => {
    expect(crossingOf(levels, before, after)).toEqual({
      previous_level_id: from && idOf(from),
      level_id: to && idOf(to),
      level_name: to,
    });
  });

  test.each<[what: string, before: number | null, after: number]>([
    ['within a level', 20, 49],
    ['between two scores that are in no level', 10, 19],
    ['that leaves the score as it is', 50, 50],
    ['of a new lead that is in no level', null, 10],
  ])('is not a change %s', (_, before, after) => {
    expect(crossingOf(levels, before, after)).toBeNull();
  });

  test('is not there without levels', () => {
    expect(crossingOf([], null, 50)).toBeNull();
    expect(crossingOf([], -50, 50)).toBeNull();
  });
});

/** Levels one above the other, with gaps or without, open at an end or closed. */
const anyLevels = fc
  .record({
    bounds: fc.uniqueArray(fc.integer({ min: -60, max: 60 }), { maxLength: 8 }),
    openBelow: fc.boolean(),
    openAbove: fc.boolean(),
  })
  .map(({ bounds, openBelow, openAbove }) => {
    const sorted = bounds.sort((a, b) => a - b);
    const count = Math.floor(sorted.length / 2);
    return levelsSet(
      Array.from({ length: count }, (_, index): [string, number | null, number | null] => [
        `level ${String(index)}`,
        index === 0 && openBelow ? null : (sorted[2 * index] ?? 0),
        index === count - 1 && openAbove ? null : (sorted[2 * index + 1] ?? 0),
      ]),
    ).levels;
  });
const score = fc.integer({ min: -70, max: 70 });

test('whoever follows the crossings alone knows the level of every score', () => {
  fc.assert(
    fc.property(anyLevels, fc.array(score, { minLength: 1, maxLength: 20 }), (some, scores) => {
      let known: string | null = null;
      let before: number | null = null;
      for (const after of scores) {
        const crossing = crossingOf(some, before, after);
        if (crossing) {
          expect(crossing.previous_level_id).toBe(known);
          expect(crossing.level_id).not.toBe(known);
          known = crossing.level_id;
        }
        expect(known).toBe(levelOf(some, after)?.id ?? null);
        before = after;
      }
    }),
  );
});

test('the way back crosses the same levels the other way', () => {
  fc.assert(
    fc.property(anyLevels, score, score, (some, one, other) => {
      const there = crossingOf(some, one, other);
      const back = crossingOf(some, other, one);
      expect(back?.previous_level_id).toBe(there?.level_id);
      expect(back?.level_id).toBe(there?.previous_level_id);
      expect(levelHolding(some, other)?.name).toBe(
        there ? (there.level_name ?? undefined) : levelOf(some, one)?.name,
      );
    }),
  );
});
