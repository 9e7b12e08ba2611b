// Ports: nobody who asks for several gets one twice.
import { expect, test } from '@jest/globals';
import { freePort } from './ports.js';

test('of two hundred ports asked for at once none is another', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, () => freePort()));
  expect(new Set(ports).size).toBe(200);
});
