// The level of a score, and which lists of levels are valid.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { routes } from '../routes/index.js';
import type { EngagementLevel } from '../routes/scoring-configuration.js';
import { levelNamed, levelOf } from './levels.js';

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

describe('a list that is sent', () => {
  const { body } = routes.setEngagementLevels;
  const good = { name: 'Hot', min_score: 50, max_score: null, color: '#e8590c' };
  const problemsOf = (sent: unknown) =>
    body.safeParse(sent).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];

  test('may be empty, may leave bounds and ids out, and is taken as it is', () => {
    expect(body.parse({ levels: [] })).toEqual({ levels: [] });
    expect(body.parse({ levels: [{ name: ' Any ', color: '#ABCdef' }] })).toEqual({
      levels: [{ name: 'Any', color: '#ABCdef', min_score: null, max_score: null }],
    });
    expect(problemsOf({ levels: [{ ...good, id: idAt(1), min_score: 5, max_score: 5 }] })).toEqual([]);
    expect(problemsOf({ levels: Array.from({ length: 20 }, () => good) })).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['21 levels', { levels: Array.from({ length: 21 }, () => good) }, 'levels must be at most 20 levels'],
    ['no name', { levels: [{ ...good, name: ' ' }] }, 'levels.0.name must not be empty'],
    ['a long name', { levels: [{ ...good, name: 'x'.repeat(101) }] }, 'levels.0.name must be at most 100'],
    ['a fraction', { levels: [{ ...good, min_score: 1.5 }] }, 'levels.0.min_score'],
    ['a bound beyond all scores', { levels: [{ ...good, min_score: 2 ** 31 }] }, 'levels.0.min_score'],
    [
      'bounds the wrong way round',
      { levels: [good, { ...good, min_score: 6, max_score: 5 }] },
      'levels.1.max_score must not be less than min_score',
    ],
    ['a colour by name', { levels: [{ ...good, color: 'red' }] }, 'levels.0.color must be a colour such as'],
    ['a short colour', { levels: [{ ...good, color: '#fff' }] }, 'levels.0.color must be a colour such as'],
    ['a colour with alpha', { levels: [{ ...good, color: '#e8590c80' }] }, 'levels.0.color'],
    ['no UUID', { levels: [{ ...good, id: 'hot' }] }, 'levels.0.id'],
    ['a field that is none', { levels: [{ ...good, colour: 'red' }] }, 'levels.0'],
    ['no list', [good], ''],
  ])('%s is refused, and the place is named', (_, sent, problem) => {
    expect(problemsOf(sent).join('\n')).toContain(problem);
    expect(problemsOf(sent)).not.toEqual([]);
  });
});
