// Output for people: aligned, bounded, and safe for their terminal.
import { expect, test } from '@jest/globals';
import { duration, plain, table } from './output.js';

test('columns are as wide as their widest value, numbers to the right, long values cut', () => {
  const rows = [
    { name: 'Ada', points: 7 },
    { name: 'Someone with a long name 👩‍🔬', points: -120 },
  ];
  const text = table(rows, [
    { title: 'POINTS', value: ({ points }) => points, align: 'right' },
    { title: 'NAME', value: ({ name }) => name, maximum: 12 },
  ]);
  expect(text.split('\n')).toEqual(['POINTS  NAME', '     7  Ada', '  -120  Someone wit…']);
});

test('control characters are removed', () => {
  expect(plain('a\u001b[31mb\nc\u009b')).toBe('a [31mb c ');
});

test('durations are in hours, minutes and seconds', () => {
  expect([0, 59.6, 200, 7_500, -3].map(duration)).toEqual(['0s', '1m 0s', '3m 20s', '2h 5m', '0s']);
});
