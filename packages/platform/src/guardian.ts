// Ends a run's processes when the run itself was killed and could not end them. A small child process holds the
// reading end of a pipe; the kernel closes the pipe when this process dies, however it dies.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { identityOf } from './process-identity.js';
import { signalGroup } from './signals.js';

export interface Guardian {
  /** The guardian's own process. */
  readonly pid: number;
  /** Registers a process: when this process dies, its group gets `signal`, and SIGKILL 10 s later. */
  guard(pid: number, signal: NodeJS.Signals): void;
  /** Removes a process that has ended: its pid may be reused. */
  release(pid: number): void;
  /** Registers a folder that is deleted, when this process dies, after the processes have ended. */
  removeAfterwards(directory: string): void;
  /** Ends the guardian, which then touches nothing. */
  dismiss(): void;
  /**
   * Ends all registered processes, as if this process had died: for a start that is given up while its programs are still coming up.
   * From now on `mayStart` is false, and a process that is registered is killed at once.
   * Resolves when all have ended and the folders are removed.
   */
  endAll(): Promise<void>;
  /** False once `endAll` was called: nothing may be started any more. */
  readonly mayStart: boolean;
}

/**
 * Starts the guardian process. It needs Linux (`/proc`) to be sure that a pid still belongs to the registered process.
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
  // When the guardian is killed, writing to it fails: this process goes on without its protection.
  stdin.on('error', () => undefined);
  const tell = (message: object): void => {
    if (stdin.writable) {
      stdin.write(`${JSON.stringify(message)}\n`);
    }
  };
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let mayStart = true;
  return {
    pid: child.pid,
    get mayStart() {
      return mayStart;
    },
    guard(pid, signal) {
      if (!mayStart) {
        signalGroup(pid, 'SIGKILL');
        return;
      }
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
    async endAll() {
      mayStart = false;
      // This wait, unlike the guardian's life, keeps the event loop alive.
      child.ref();
      stdin.end();
      await ended;
    },
  };
}
