// `npm run test:chaos` runs the files that chaos.json lists: every test with a full size has to be listed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const checkout = join(import.meta.dirname, '../../..');
const listed = (
  JSON.parse(readFileSync(join(import.meta.dirname, '../chaos.json'), 'utf8')) as { files: string[] }[]
).flatMap(({ files }) => files);

const tests = ['packages', 'services'].flatMap((folder) =>
  readdirSync(join(checkout, folder)).flatMap((own) =>
    readdirSync(join(checkout, folder, own, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => join(folder, own, 'src', file)),
  ),
);
const textOf = (file: string) => readFileSync(join(checkout, file), 'utf8');

test('every test that is larger at full size is in chaos.json', () => {
  const larger = tests.filter((file) => /^import .*\b(isFullSize|lawRuns)\b/m.test(textOf(file)));
  expect(larger).not.toHaveLength(0);
  expect(larger.filter((file) => !listed.includes(file))).toEqual([]);
});

test('every law of a service’s deciders and folds is in chaos.json', () => {
  const pure = /from '\.\/(decide|evolve|fold)\.js'/;
  const laws = tests.filter(
    (file) =>
      /^services\/.*\.unit\.test\.ts$/.test(file) &&
      pure.test(textOf(file)) &&
      textOf(file).includes('fc.assert'),
  );
  expect(laws).not.toHaveLength(0);
  expect(laws.filter((file) => !listed.includes(file))).toEqual([]);
});

test('every file that chaos.json lists exists, and is listed once', () => {
  expect(listed.filter((file) => !existsSync(join(checkout, file)))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});
