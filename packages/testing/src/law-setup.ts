// Runs before each file of unit tests: laws that name no number of runs are tried as often as the size of the run wants.
import { jest } from '@jest/globals';
import { isFullSize, lawRuns } from './full-size.js';

if (isFullSize) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ numRuns: lawRuns });
  jest.setTimeout(600_000);
}
