// Runs before each file of unit tests: at full size, a law without its own number of runs is tried `lawRuns` times.
import { jest } from '@jest/globals';
import { isFullSize, lawRuns } from './full-size.js';

if (isFullSize) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ numRuns: lawRuns });
  jest.setTimeout(600_000);
}
