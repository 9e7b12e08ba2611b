// The supervisor's pure parts.
import { expect, test } from '@jest/globals';
import { restartDelayMs } from './processes.js';

test('the pause before a restart doubles, up to 30 s', () => {
  expect([1, 2, 3, 4].map((attempt) => restartDelayMs(attempt))).toEqual([250, 500, 1_000, 2_000]);
  expect(restartDelayMs(50)).toBe(30_000);
});
