// When the archive of a server's classes is made, and that a server starts without one where none can be made.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createProgress } from '../progress.js';
import { openBuildCache } from './build-cache.js';
import { classArchiveOptions, type ArchivedProgram } from './class-archive.js';

let folder: string;
let messages: string[];
let trainings: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'class-archive-'));
  messages = [];
  trainings = 0;
  mkdirSync(join(folder, 'java/bin'), { recursive: true });
  mkdirSync(join(folder, 'jars'));
  writeFileSync(join(folder, 'java/bin/java'), '');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** The options for a program whose training writes what Java would, or fails. */
function optionsFor(training: (archive: string) => void): Promise<string[]> {
  const progress = createProgress((message) => messages.push(message));
  const program: ArchivedProgram = {
    name: 'server-1.0',
    folder: join(folder, 'jars'),
    java: join(folder, 'java/bin/java'),
    train: (_home, [option = '']) => {
      trainings += 1;
      training(option.replace('-XX:ArchiveClassesAtExit=', ''));
      return Promise.resolve();
    },
  };
  const guardian = {} as never;
  const cache = openBuildCache({ XDG_CACHE_HOME: folder }, progress);
  return classArchiveOptions({ cache, guardian, progress }, program);
}

const write = (archive: string) => writeFileSync(archive, 'classes');

test('an archive is made once, and once more for another Java', async () => {
  const options = await optionsFor(write);
  expect(options).toEqual([expect.stringMatching(/^-XX:SharedArchiveFile=\/.*\/classes\.jsa$/)]);
  expect(await optionsFor(write)).toEqual(options);
  expect(trainings).toBe(1);
  writeFileSync(join(folder, 'java/bin/java'), 'a newer one');
  expect(await optionsFor(write)).not.toEqual(options);
  expect(trainings).toBe(2);
});

test('a server whose classes cannot be archived starts without, and no later start tries again', async () => {
  const fail = () => {
    throw new Error('this Java archives nothing');
  };
  expect(await optionsFor(fail)).toEqual([]);
  expect(await optionsFor(write)).toEqual([]);
  expect(messages.join('\n')).toContain('this Java archives nothing');
});
