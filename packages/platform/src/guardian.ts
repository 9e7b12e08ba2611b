// Ends a run's processes when the run itself was killed and could not. A small child process holds the
// reading end of a pipe; the kernel closes the pipe when this process dies, however it dies.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { identityOf } from './process-identity.js';

export interface Guardian {
  /** The guardian's own process. */
  readonly pid: number;
  /** From now on: when this process dies, send `signal` to the process group of `pid`, later SIGKILL. */
  guard(pid: number, signal: NodeJS.Signals): void;
  /** This process has ended, its pid may be reused. */
  release(pid: number): void;
  /** When this process dies: delete the folder, after the processes have ended. */
  removeAfterwards(directory: string): void;
  /** All went well: the guardian goes without touching anything. */
  dismiss(): void;
}

/**
 * Starts the guardian process. It needs Linux (`/proc`) to be sure that a pid is still the process meant.
 *
 * @throws Error when the process cannot be started
 */
export function startGuardian(): Guardian {
  const script = fileURLToPath(new URL('../scripts/guardian.mjs', import.meta.url));
  // A session of its own, so that neither Ctrl-C nor a kill of our process group reaches it.
  const child = spawn(process.execPath, [script], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  const { stdin } = child;
  if (child.pid === undefined) {
    throw new Error('the guardian process could not be started');
  }
  child.unref();
  // The pipe alone must not keep our event loop alive.
  (stdin as unknown as { unref(): void }).unref();
  // A guardian that was killed takes its protection with it, not our process.
  stdin.on('error', () => undefined);
  const tell = (message: object): void => {
    if (stdin.writable) {
      stdin.write(`${JSON.stringify(message)}\n`);
    }
  };
  return {
    pid: child.pid,
    guard(pid, signal) {
      const identity = identityOf(pid);
      if (identity) {
        tell({ guard: identity, signal });
      }
    },
    release: (pid) => tell({ release: pid }),
    removeAfterwards: (directory) => tell({ removeAfterwards: directory }),
    dismiss() {
      tell({ dismiss: true });
      stdin.end();
    },
  };
}
