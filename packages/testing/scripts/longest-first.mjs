// The order in which Jest starts test files: the longest first, so that no worker waits at the end for a long file of the other.
// A checkout that has run its tests knows how long each file took; a fresh one goes by ../durations.json, which holds the files
// that `npm test` lists last.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';
import { root } from './jest-runs.mjs';
import { kindOf } from './one-test.mjs';

const seconds = JSON.parse(readFileSync(join(import.meta.dirname, '../durations.json'), 'utf8'));
/** Files that durations.json lacks. */
const usualSeconds = { unit: 1, int: 10, e2e: 30 };

export default class LongestFirst extends TestSequencer {
  /** The milliseconds that a test file takes. */
  time(test) {
    const file = relative(root, test.path);
    return super.time(test) ?? 1_000 * (seconds[file] ?? usualSeconds[kindOf(file)]);
  }
}
