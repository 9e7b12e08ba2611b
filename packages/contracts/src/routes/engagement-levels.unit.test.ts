// Which lists of engagement levels are valid.
import { describe, expect, test } from '@jest/globals';
import { routes } from './index.js';

describe('a list of levels that is sent', () => {
  const { body } = routes.setEngagementLevels;
  const good = { name: 'Hot', min_score: 50, max_score: null, color: '#e8590c' };
  const problemsOf = (sent: unknown) =>
    body.safeParse(sent).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];

  test('may be empty, may leave bounds, ids and colours out, and is taken as it is', () => {
    expect(body.parse({ levels: [] })).toEqual({ levels: [] });
    expect(body.parse({ levels: [{ name: ' Any ', color: '#ABCdef' }] })).toEqual({
      levels: [{ name: 'Any', color: '#ABCdef', min_score: null, max_score: null }],
    });
    expect(body.parse({ levels: [{ name: 'Any' }] })).toEqual({
      levels: [{ name: 'Any', color: '#868e96', min_score: null, max_score: null }],
    });
    expect(
      problemsOf({
        levels: [{ ...good, id: '00000000-0000-4000-8000-000000000001', min_score: 5, max_score: 5 }],
      }),
    ).toEqual([]);
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
