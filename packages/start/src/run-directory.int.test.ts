// The folder of `npm start`: what makes it unusable is said in one sentence, before anything starts.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { directoryProblem, prepareRunDirectory } from './run-directory.js';

let base = '';
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'run-directory-'));
});
afterAll(() => {
  rmSync(base, { recursive: true, force: true });
});

test('a folder that is missing is made, and nothing but the folder of logs stays in it', async () => {
  const directory = join(base, 'a', 'run');
  await prepareRunDirectory(directory, 1);
  expect(await readdir(directory)).toEqual(['logs']);
});

test.each([
  ['the folder', (file: string) => file],
  ['a folder above it', (file: string) => join(file, 'below')],
])('a file in place of %s is named', async (_title, directoryAt) => {
  const file = join(base, 'file');
  writeFileSync(file, '');
  await expect(prepareRunDirectory(directoryAt(file), 1)).rejects.toThrow(
    /file.* is not a folder.*move the file away, or set LEAD_SCORING_RUN_DIRECTORY/,
  );
});

test('a file in place of the folder of logs is named', async () => {
  const directory = join(base, 'with-logs');
  await prepareRunDirectory(directory, 1);
  rmSync(join(directory, 'logs'), { recursive: true });
  writeFileSync(join(directory, 'logs'), '');
  await expect(prepareRunDirectory(directory, 1)).rejects.toThrow(/with-logs\/logs is not a folder/);
});

test.each([
  ['EACCES', 'cannot be written by this user: give the user the right'],
  ['EROFS', 'is on a disk that can only be read: mount the disk for writing'],
  ['ENOSPC', 'is full: free space'],
  ['ENOENT', 'cannot be made; its disk may be one that can only be read'],
  ['EDQUOT', 'is full: free space'],
  ['EIO', 'cannot be used for data and logs (i/o error)'],
])('%s is said in words, with what to do', (code, words) => {
  const problem = directoryProblem('/run', Object.assign(new Error('i/o error'), { code }));
  expect(problem).toContain(words);
  expect(problem).toMatch(/\/run .*set LEAD_SCORING_RUN_DIRECTORY to another folder\.$/);
});

test('a disk with too little space is named, with what is free and what is needed', async () => {
  await expect(prepareRunDirectory(base, 1e18)).rejects.toThrow(
    /has \d+ MB free, and servers and logs need 1000000000000 MB: free space/,
  );
});
