// The order of the test files of a run.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';

interface TestFile {
  path: string;
  context: object;
}

const checkout = join(import.meta.dirname, '../../..');
const script = pathToFileURL(join(import.meta.dirname, '../scripts/longest-first.mjs')).href;
const { default: LongestFirst } = (await import(script)) as {
  default: new () => { sort: (files: TestFile[]) => TestFile[] };
};
const durations = JSON.parse(readFileSync(join(import.meta.dirname, '../durations.json'), 'utf8')) as Record<
  string,
  number
>;

test('in a fresh checkout the files with known durations start by them, then those of e2e, int and unit', () => {
  const known = Object.entries(durations)
    .filter(([, seconds]) => seconds > 30)
    .sort(([, a], [, b]) => b - a)
    .map(([file]) => file);
  const unknown = ['a.e2e.test.ts', 'a.int.test.ts', 'a.unit.test.ts'];
  const files = [...known, ...unknown].reverse().map((file) => ({
    path: join(checkout, file),
    context: { config: { cache: false } },
  }));
  const sorted = new LongestFirst().sort(files).map(({ path }) => path);
  expect(sorted).toEqual([...known, ...unknown].map((file) => join(checkout, file)));
});

test('every file with a known duration exists', () => {
  expect(Object.keys(durations).filter((file) => !existsSync(join(checkout, file)))).toEqual([]);
});
