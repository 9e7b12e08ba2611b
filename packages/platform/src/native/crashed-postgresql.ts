// What a PostgreSQL server that was killed leaves behind. Its backends go on with the statement in hand when their postmaster is
// gone: a new server that begins to recover the same files beside them would corrupt the data.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../waiting.js';

/** The processes that work in a cluster's folder, as every process of PostgreSQL does, in whatever mount namespace. */
export function processesIn(cluster: string): number[] {
  const { dev, ino } = statSync(cluster);
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const at = statSync(`/proc/${name}/cwd`);
      return at.dev === dev && at.ino === ino ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Ends what is left of a killed server; no server of the cluster may run.
 *
 * @throws Error when a process does not end within 10 s
 */
export async function endLeftovers(cluster: string): Promise<void> {
  if (!existsSync(cluster)) return;
  await waitUntil(
    () => {
      const left = processesIn(cluster);
      for (const pid of left) process.kill(pid, 'SIGKILL');
      if (left.length > 0) throw new Error(`still running: ${left.join(', ')}`);
      return Promise.resolve();
    },
    { description: 'processes of the PostgreSQL that was killed', timeoutMs: 10_000 },
  );
}

/**
 * The lock file of a killed server names a pid that another process may have by now, and PostgreSQL would refuse to start. It
 * takes a pid of its own parent, which this process is, for a leftover, and then goes by the shared memory that the file names:
 * while anything still has that attached, it does not start.
 */
export function disownLockFile(cluster: string): void {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const [, ...rest] = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, [String(process.pid), ...rest].join('\n'));
}
