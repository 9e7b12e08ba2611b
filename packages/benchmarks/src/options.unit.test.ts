import { describe, expect, test } from '@jest/globals';
import { readOptions } from './options.js';

describe('the options', () => {
  test('by default run everything three times and write the results', () => {
    expect(readOptions([], 'RESULTS.md')).toEqual({
      parts: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o'],
      cells: undefined,
      before: undefined,
      rounds: 3,
      quick: false,
      output: 'RESULTS.md',
    });
  });

  test('do not let a quick run replace results', () => {
    expect(readOptions(['--only', 'b'], 'RESULTS.md')).toMatchObject({ parts: ['b'], output: 'RESULTS.md' });
    expect(readOptions(['--quick'], 'RESULTS.md')).toMatchObject({ rounds: 1, output: undefined });
    expect(readOptions(['--only', 'c', '--output', 'other.md'], 'RESULTS.md').output).toBe('other.md');
  });

  test('compare with another checkout, whose figures do not replace results', () => {
    expect(readOptions(['--only', 'a,b', '--before', '../before'], 'RESULTS.md')).toMatchObject({
      parts: ['a', 'b'],
      before: '../before',
      output: undefined,
    });
  });

  test('name the cells of the capacity measurement', () => {
    expect(readOptions(['--only', 'e', '--cells', '100/20000/6,1/200000/48'], 'RESULTS.md').cells).toEqual([
      { eventsPerRequest: 100, leads: 20_000, partitions: 6 },
      { eventsPerRequest: 1, leads: 200_000, partitions: 48 },
    ]);
  });

  test.each([
    [['--only', 'z'], '--only is "z"; it must be a letter from a to o, or several of them as in a,b.'],
    [['--only', 'a,'], '--only is "a,"; it must be'],
    [['--before', '../before'], '--before compares a, b and e: add --only a,b'],
    [['--only', 'a,d', '--before', '../before'], '--before compares a, b and e'],
    [['--only', 'f', '--before', '../before'], '--before compares a, b and e'],
    [['--rounds', '0'], '--rounds is "0"; it must be a whole number from 1 to 20.'],
    [['--rounds', 'x'], '--rounds is "x"; it must be a whole number from 1 to 20.'],
    [['--cells', '100/20000'], '--cells has "100/20000"; a cell is EVENTS-PER-REQUEST/LEADS/PARTITIONS'],
    [['--cells', '100/20000/0'], '--cells has "100/20000/0"'],
    [['--fast'], "Unknown option '--fast'"],
  ])('say what is wrong with %j', (flags, message) => {
    expect(() => readOptions(flags, 'RESULTS.md')).toThrow(message);
  });
});
