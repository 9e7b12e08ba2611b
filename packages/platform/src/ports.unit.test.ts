// Ports that one process picks at the same time differ.
import { expect, test } from '@jest/globals';
import { freePort } from './ports.js';

test('two hundred ports picked at once are all different', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, () => freePort()));
  expect(new Set(ports).size).toBe(200);
});
