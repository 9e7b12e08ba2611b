// Which grids of profile by engagement are valid.
import { describe, expect, test } from '@jest/globals';
import { routes } from './index.js';

const { body } = routes.setScoringGrid;
const good = { profile: { A: 60, B: 30, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } };
const problemsOf = (sent: unknown) =>
  body.safeParse(sent).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];

describe('a grid that is sent', () => {
  test('is taken as it is; null takes it away', () => {
    expect(body.parse({ grid: good })).toEqual({ grid: good });
    expect(body.parse({ grid: null })).toEqual({ grid: null });
    expect(problemsOf({ grid: { ...good, profile: { A: 0, B: -1, C: -2 } } })).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['no grid', {}, 'grid'],
    ['no profile', { grid: { engagement: good.engagement } }, 'grid.profile'],
    [
      'a bound for the lowest grade',
      { grid: { ...good, profile: { ...good.profile, D: 0 } } },
      'grid.profile',
    ],
    ['a grade left out', { grid: { ...good, engagement: { 1: 80, 2: 40 } } }, 'grid.engagement.3'],
    ['a fraction', { grid: { ...good, profile: { A: 60.5, B: 30, C: 10 } } }, 'grid.profile.A'],
    [
      'a bound beyond all scores',
      { grid: { ...good, profile: { A: 2 ** 31, B: 30, C: 10 } } },
      'grid.profile.A',
    ],
    [
      'two grades with one bound',
      { grid: { ...good, profile: { A: 60, B: 60, C: 10 } } },
      'grid.profile.B must be less than that of A, which is 60',
    ],
    [
      'grades the wrong way round',
      { grid: { ...good, engagement: { 1: 10, 2: 5, 3: 7 } } },
      'grid.engagement.3 must be less than that of 2, which is 5',
    ],
  ])('with %s is refused, and the place is named', (_, sent, problem) => {
    expect(problemsOf(sent).join('\n')).toContain(problem);
  });
});

test('a list of leads takes the sixteen cells and no other', () => {
  const { query } = routes.listLeads;
  expect(query.safeParse({ grid: 'A1' }).success).toBe(true);
  expect(query.safeParse({ grid: 'D4' }).success).toBe(true);
  for (const grid of ['a1', 'E1', 'A5', 'A', '', 'A1,B1'])
    expect(JSON.stringify(query.safeParse({ grid }).error?.issues)).toContain('A1 to D4');
});
