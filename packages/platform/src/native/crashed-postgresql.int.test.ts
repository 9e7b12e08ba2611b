// Cleaning up after a killed PostgreSQL, with shell processes in the place of its backends.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { disownLockFile, endLeftovers, processesIn } from './crashed-postgresql.js';
import { nativeObstacle } from './machine.js';

const testNative = (await nativeObstacle()) === undefined ? test : test.skip;
const started: ChildProcess[] = [];
let cluster: string;
let elsewhere: string;

beforeEach(() => {
  cluster = mkdtempSync(join(tmpdir(), 'lead-scoring-cluster-'));
  elsewhere = mkdtempSync(join(tmpdir(), 'lead-scoring-cluster-'));
});

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  for (const folder of [cluster, elsewhere]) rmSync(folder, { recursive: true, force: true });
});

/** A process that does not end by itself. */
async function busyIn(cwd: string, trap = 'trap "" TERM INT QUIT'): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', `${trap}; echo busy; while :; do sleep 0.1; done`], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  started.push(child);
  await once(child.stdout, 'data');
  return child;
}

testNative(
  'every process that still works on the data is ended before a new server starts, and no other one',
  async () => {
    const left = await busyIn(cluster);
    const other = await busyIn(elsewhere);
    expect(processesIn(cluster)).toContain(left.pid);
    await endLeftovers(cluster, { graceMs: 300 });
    expect(processesIn(cluster)).toEqual([]);
    expect(processesIn(elsewhere)).toContain(other.pid);
  },
);

testNative(
  'a process that SIGQUIT ends is not killed: SIGKILL may cut the write of a page in half',
  async () => {
    const left = await busyIn(cluster, 'trap "exit 7" QUIT');
    const ended = once(left, 'exit');
    await endLeftovers(cluster);
    expect(await ended).toEqual([7, null]);
  },
);

test('the lock file no longer names a pid that another process may have, and still names the shared memory', () => {
  const file = join(cluster, 'postmaster.pid');
  disownLockFile(cluster);
  writeFileSync(file, '1\n/data/cluster\n1700000000\n5432\n\n127.0.0.1\n  5432001    163841\nready   \n');
  disownLockFile(cluster);
  const [pid, ...rest] = readFileSync(file, 'utf8').split('\n');
  expect(pid).toBe(String(process.pid));
  expect(rest.join('\n')).toContain('5432001    163841');
});
