import { expect, test } from '@jest/globals';
import { interleaved } from './rounds.js';

test('contenders take turns, each round begins with another one, and each has its rounds in order', async () => {
  const order: string[] = [];
  const results = await interleaved(
    [{ name: 'A' }, { name: 'B' }],
    3,
    ({ name }) => {
      order.push(name);
      return Promise.resolve(order.length);
    },
    { say: () => undefined, describe: String },
  );
  expect(order.join('')).toBe('ABBAAB');
  expect(results).toEqual([
    { name: 'A', rounds: [1, 4, 5] },
    { name: 'B', rounds: [2, 3, 6] },
  ]);
});
