// What a PostgreSQL server that was killed leaves behind. Its backends go on with the statement in hand when their postmaster is
// gone: a new server that begins to recover the same files beside them would corrupt the data.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../waiting.js';

/** As long as a postmaster waits after SIGQUIT before it kills what has not ended. */
const postmasterPatienceMs = 5_000;

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
 * Ends what is left of a killed server, as its postmaster would have: SIGQUIT ends a process of PostgreSQL at once, and never within
 * the write of a page; SIGKILL, which may cut that write in half, ends those that have not ended by then. No server of the cluster
 * may run.
 *
 * @throws Error when a process has not ended 10 s after SIGKILL
 */
export async function endLeftovers(cluster: string, options: { graceMs?: number } = {}): Promise<void> {
  if (!existsSync(cluster)) return;
  const { graceMs = postmasterPatienceMs } = options;
  const killFrom = performance.now() + graceMs;
  await waitUntil(
    () => {
      const left = processesIn(cluster);
      for (const pid of left) signal(pid, performance.now() < killFrom ? 'SIGQUIT' : 'SIGKILL');
      if (left.length > 0) throw new Error(`still running: ${left.join(', ')}`);
      return Promise.resolve();
    },
    { description: 'processes of the PostgreSQL that was killed', timeoutMs: graceMs + 10_000, pollMs: 20 },
  );
}

/** It may have ended since it was found. */
function signal(pid: number, name: 'SIGQUIT' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
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
