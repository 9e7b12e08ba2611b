// Reading a process's identity from /proc/PID/stat.
import { expect, test } from '@jest/globals';
import { parseStartTime } from './process-identity.js';

const after = '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18';

test('the start time is found behind a name with spaces and brackets', () => {
  expect(parseStartTime(`4711 (a (strange) name) S ${after} 987654 20 21`)).toBe('987654');
});

test('a zombie is not a living process', () => {
  expect(parseStartTime(`4711 (java) Z ${after} 987654 20 21`)).toBeUndefined();
});
