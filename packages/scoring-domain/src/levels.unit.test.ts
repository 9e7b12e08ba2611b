// The level of a score, and the level that a name means.
import { describe, expect, test } from '@jest/globals';
import type { routeDeclarations } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { levelNamed, levelOf } from './levels.js';

type EngagementLevel = routeDeclarations.EngagementLevel;

const idAt = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
const level = (
  index: number,
  name: string,
  min_score: number | null,
  max_score: number | null,
): EngagementLevel => ({ id: idAt(index), name, min_score, max_score, color: '#e8590c' });

const levels = [level(1, 'Cold', null, 9), level(2, 'Warm', 20, 49), level(3, 'Hot', 50, null)];

describe('a score', () => {
  test.each([
    [-2_147_483_648, 'Cold'],
    [9, 'Cold'],
    [10, null],
    [19, null],
    [20, 'Warm'],
    [49, 'Warm'],
    [50, 'Hot'],
    [2_147_483_647, 'Hot'],
  ])('of %i is in the level %s: bounds are inclusive, null is open', (score, name) => {
    expect(levelOf(levels, score)?.name ?? null).toBe(name);
  });

  test('is in no level where there are none', () => {
    expect(levelOf([], 0)).toBeNull();
  });

  test('is in the first level that takes it, and in one whenever some level does', () => {
    const bound = fc.option(fc.integer({ min: -20, max: 20 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(bound, bound)), fc.integer({ min: -25, max: 25 }), (bounds, score) => {
        const some = bounds.map(([low, high], index) => level(index, `L${String(index)}`, low, high));
        const taking = some.filter(
          ({ min_score, max_score }) =>
            (min_score === null || score >= min_score) && (max_score === null || score <= max_score),
        );
        expect(levelOf(some, score)?.id).toBe(taking[0]?.id);
      }),
    );
  });
});

test('a level is named by its id, or by its name in any case', () => {
  expect(levelNamed(levels, idAt(2).toUpperCase())?.name).toBe('Warm');
  expect(levelNamed(levels, 'hOT')?.id).toBe(idAt(3));
  expect(levelNamed(levels, 'Ho')).toBeUndefined();
  expect(levelNamed([level(1, idAt(2), 0, 1), level(2, 'Warm', 2, 3)], idAt(2))?.name).toBe('Warm');
});
