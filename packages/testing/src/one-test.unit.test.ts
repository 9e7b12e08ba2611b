// The test file that an argument of `npm run test:one` names, and the packages to build for it.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';

interface OneTest {
  testsNamed: (tests: string[], wanted: string) => string[];
  foldersToBuild: (file: string, workspaces: string[]) => string[];
  jestArguments: (file: string, options: string[]) => string[];
}

const script = pathToFileURL(join(import.meta.dirname, '../scripts/one-test.mjs')).href;
const { testsNamed, foldersToBuild, jestArguments } = (await import(script)) as OneTest;

const unit = 'services/scoring/src/decide.unit.test.ts';
const int = 'services/scoring/src/decide.int.test.ts';
const e2e = 'packages/testing/src/start.e2e.test.ts';
const tests = [unit, int, e2e];
const workspaces = ['packages/cli', 'packages/testing', 'services/gateway', 'services/scoring'];

describe('npm run test:one', () => {
  test('finds the test with the path, or every test whose path contains the argument', () => {
    expect(testsNamed(tests, int)).toEqual([int]);
    expect(testsNamed(tests, `./${int}`)).toEqual([int]);
    expect(testsNamed(tests, 'start.e2e')).toEqual([e2e]);
    expect(testsNamed(tests, 'decide')).toEqual([unit, int]);
    expect(testsNamed(tests, 'nothing')).toEqual([]);
  });

  test('builds nothing for a unit test, the own folder for an int test, the running system for an e2e test', () => {
    expect(foldersToBuild(unit, workspaces)).toEqual([]);
    expect(foldersToBuild(int, workspaces)).toEqual(['packages/platform', 'services/scoring']);
    expect(foldersToBuild(e2e, workspaces)).toEqual([
      'packages/testing',
      'packages/cli',
      'services/gateway',
      'services/scoring',
    ]);
  });

  test('passes options to Jest, and selects the projects `faults` and `alone` as well for e2e tests', () => {
    expect(jestArguments(unit, ['-t', 'x'])).toEqual([
      '--selectProjects',
      'unit',
      '--runTestsByPath',
      unit,
      '-t',
      'x',
    ]);
    expect(jestArguments(e2e, [])).toEqual([
      '--selectProjects',
      'e2e',
      'faults',
      'alone',
      '--runTestsByPath',
      e2e,
      '--forceExit',
    ]);
  });
});
