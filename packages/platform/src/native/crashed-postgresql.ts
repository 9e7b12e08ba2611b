// Cleans up after a PostgreSQL server that was killed. Its backends finish their current statement when their postmaster is gone:
// a new server that recovered the same files beside them would corrupt the data.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../waiting.js';

/** The time that a postmaster itself waits after SIGQUIT before it kills its backends. */
const postmasterPatienceMs = 5_000;

/** The pids whose working directory is a cluster's folder, as that of every PostgreSQL process is, in any mount namespace. */
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
 * Ends the backends of a killed server as its postmaster would have. SIGQUIT ends a PostgreSQL process at once, and never within
 * the write of a page; SIGKILL, which may cut that write in half, follows after `graceMs`. No server of the cluster may run.
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
    { description: 'ending the backends of the killed PostgreSQL', timeoutMs: graceMs + 10_000, pollMs: 20 },
  );
}

/** Signals a process; that it has ended meanwhile is no error. */
function signal(pid: number, name: 'SIGQUIT' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Replaces the pid in the lock file of a killed server by that of this process. Another process may have the old pid by now, and
 * PostgreSQL would refuse to start. It treats the pid of its own parent, which this process is, as left over, and then checks the
 * shared memory that the file names: while a process has that attached, it does not start.
 */
export function disownLockFile(cluster: string): void {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const [, ...rest] = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, [String(process.pid), ...rest].join('\n'));
}
