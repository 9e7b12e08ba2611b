import { describe, expect, test } from '@jest/globals';
import { readOptions } from './options.js';

describe('the options', () => {
  test('run everything three times and keep the results unless told otherwise', () => {
    expect(readOptions([], 'RESULTS.md')).toEqual({
      parts: ['a', 'b', 'c', 'd'],
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

  test.each([
    [['--only', 'e'], '--only is "e"; it must be a, b, c or d.'],
    [['--rounds', '0'], '--rounds is "0"; it must be a whole number from 1 to 20.'],
    [['--rounds', 'x'], '--rounds is "x"; it must be a whole number from 1 to 20.'],
    [['--fast'], "Unknown option '--fast'"],
  ])('say what is wrong with %j', (flags, message) => {
    expect(() => readOptions(flags, 'RESULTS.md')).toThrow(message);
  });
});
