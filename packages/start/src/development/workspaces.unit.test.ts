// The folders and services of this checkout that a changed file affects.
import { join } from 'node:path';
import { serviceNames } from '@lead-scoring/contracts';
import { describe, expect, test } from '@jest/globals';
import { affectedBy, readWorkspaces } from './workspaces.js';

const workspaces = readWorkspaces(join(import.meta.dirname, '../../../..'));
const affected = (...files: string[]) => {
  const { folders, services } = affectedBy(workspaces, files);
  return { folders: folders.sort(), services: services.sort() };
};

describe('a changed file', () => {
  test('of a service affects that service', () => {
    expect(affected('services/scoring/src/main.ts')).toEqual({
      folders: ['services/scoring'],
      services: ['scoring'],
    });
  });

  test('of a package affects every service that depends on it, also through another package', () => {
    expect(affected('packages/share-page/src/index.ts')).toEqual({
      folders: ['packages/share-page', 'services/gateway', 'services/share'],
      services: ['gateway', 'share'],
    });
    // The gateway depends on contracts directly; all others also through other packages.
    expect(affected('packages/contracts/src/common.ts').services).toEqual([...serviceNames].sort());
  });

  test('that only tests use is built and restarts nothing', () => {
    expect(affected('services/share/src/explanation/read.int.test.ts')).toEqual({
      folders: ['services/share'],
      services: [],
    });
    expect(affected('packages/event-log/src/testing/logs.ts').services).toEqual([]);
    expect(affected('packages/testing/src/ledger.ts').services).toEqual([]);
  });

  test('outside packages and services affects nothing', () => {
    expect(affected('docs/chaos.md', 'packages/none/src/index.ts')).toEqual({ folders: [], services: [] });
  });

  test('together with others names each folder and service once', () => {
    expect(affected('services/share/src/main.ts', 'packages/share-page/src/index.ts')).toEqual({
      folders: ['packages/share-page', 'services/gateway', 'services/share'],
      services: ['gateway', 'share'],
    });
  });
});
