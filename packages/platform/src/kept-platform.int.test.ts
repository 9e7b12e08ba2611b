// A platform that stays up between runs: the keeper and its users over real sockets, with servers that only count.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stopKeptPlatform, useKeptPlatform, type KeptPlatform } from './kept-platform.js';
import { keepPlatform, type KeeperOptions, type PlatformKeeper } from './platform-keeper.js';
import { eventually } from './waiting.js';

const endpoints = { kafkaBrokers: ['k:1'], schemaRegistryUrl: 'http://r', mongodbUri: 'mongodb://m' };
let folder: string;
let files = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lead-scoring-keeper-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A keeper of servers that count how often they were started and stopped. */
function countingServers(options: Partial<KeeperOptions> & { untilUp?: Promise<void> } = {}) {
  const counts = { started: 0, stopped: 0 };
  const keepers: (PlatformKeeper | undefined)[] = [];
  const stateFile = join(folder, `${files++}.json`);
  const start: KeeperOptions['start'] = async (onProgress) => {
    counts.started++;
    onProgress('starting');
    await options.untilUp;
    return {
      endpoints,
      stop: () => {
        counts.stopped++;
        return Promise.resolve();
      },
    };
  };
  const keep = async () => {
    keepers.push(await keepPlatform({ stateFile, start, ...options }));
  };
  const use = (onProgress?: (message: string) => void): Promise<KeptPlatform> =>
    useKeptPlatform({
      stateFile,
      ...(onProgress && { onProgress }),
      startKeeper: () => {
        void keep();
        return { exitCode: null };
      },
    });
  return { counts, keepers, stateFile, use };
}

describe('a kept platform', () => {
  test('is started by its first user, gives each user its addresses, and stays up when all have gone', async () => {
    const progress: string[] = [];
    let isTold: () => void = () => undefined;
    const untilUp = new Promise<void>((resolve) => (isTold = resolve));
    const { counts, stateFile, use } = countingServers({ untilUp });
    const first = await use((message) => {
      progress.push(message);
      isTold();
    });
    expect(first.endpoints).toEqual(endpoints);
    expect(progress).toEqual(['starting']);
    first.release();
    const second = await use((message) => progress.push(message));
    expect(second.endpoints).toEqual(endpoints);
    expect(progress).toHaveLength(1);
    expect(JSON.parse(readFileSync(stateFile, 'utf8'))).toMatchObject({ endpoints, pid: process.pid });
    second.release();
    expect(counts).toEqual({ started: 1, stopped: 0 });
    expect(await stopKeptPlatform(stateFile)).toBe(true);
    expect(counts).toEqual({ started: 1, stopped: 1 });
    expect(existsSync(stateFile)).toBe(false);
    expect(await stopKeptPlatform(stateFile)).toBe(false);
  });

  test('has one keeper, also when its first users come at the same time', async () => {
    const { counts, keepers, stateFile, use } = countingServers();
    const users = await Promise.all([use(), use(), use()]);
    await eventually('every keeper has decided', () => keepers.length === 3);
    expect(keepers.filter((keeper) => keeper !== undefined)).toHaveLength(1);
    expect(counts.started).toBe(1);
    for (const user of users) user.release();
    await stopKeptPlatform(stateFile);
  });

  test('ends when nobody has used it for a while, and not while somebody does', async () => {
    const { counts, keepers, stateFile, use } = countingServers({ idleMs: 500 });
    const user = await use();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(counts.stopped).toBe(0);
    user.release();
    await keepers[0]?.ended;
    expect(counts.stopped).toBe(1);
    expect(existsSync(stateFile)).toBe(false);
  });

  test('takes the place of a keeper that was killed', async () => {
    const { counts, stateFile, use } = countingServers();
    writeFileSync(stateFile, JSON.stringify({ port: 1, pid: 1 }));
    const user = await use();
    user.release();
    expect(counts.started).toBe(1);
    await stopKeptPlatform(stateFile);
  });

  test('whose servers cannot be started tells its user the reason', async () => {
    const { stateFile, use } = countingServers({ start: () => Promise.reject(new Error('no Docker')) });
    await expect(use()).rejects.toThrow('no Docker');
    await eventually('the keeper has ended', () => !existsSync(stateFile));
  });
});
