// The context that the native servers share: cache, data folder and supervised processes.
import { join } from 'node:path';
import type { DataDirectory } from '../data-directory.js';
import type { PlatformEndpoints } from '../endpoints.js';
import type { Guardian } from '../guardian.js';
import { startProcess, type ProcessHandle, type ProcessOptions } from '../processes.js';
import type { Progress } from '../progress.js';
import type { BuildCache } from './build-cache.js';
import type { Machine } from './machine.js';

export interface NativeContext {
  cache: BuildCache;
  machine: Machine;
  guardian: Guardian;
  progress: Progress;
  directory: DataDirectory;
  /** Called with the address of a server once it is known. */
  announce(part: Partial<PlatformEndpoints>): void;
  /** Runs a server's process: writes its log, registers it with the guardian and the data folder, restarts it when it dies. */
  supervise(options: ServerProcessOptions): Promise<ProcessHandle>;
}

type ServerProcessOptions = Pick<
  ProcessOptions,
  | 'name'
  | 'command'
  | 'args'
  | 'env'
  | 'ready'
  | 'readyUrl'
  | 'beforeStart'
  | 'stopSignal'
  | 'longestRestartDelayMs'
>;

/** A supervisor for the servers of one run. `stopAll` ends those still running, the last started first. */
export function createSupervisor(
  directory: DataDirectory,
  guardian: Guardian,
  progress: Progress,
): {
  supervise: NativeContext['supervise'];
  processes: () => { name: string; pid: number }[];
  stopAll: () => Promise<void>;
} {
  const handles: ProcessHandle[] = [];
  return {
    async supervise(options) {
      const { name, stopSignal = 'SIGTERM' } = options;
      const handle = await startProcess({
        ...options,
        stopSignal,
        logFile: join(directory.path, 'logs', `${name}.log`),
        restart: true,
        guardian,
        readyTimeoutMs: 120_000,
        stopTimeoutMs: 20_000,
        onStart: (pid) => directory.recordProcess(name, pid, stopSignal),
        onExit: () => directory.forgetProcess(name),
        onRestart: ({ exit, delayMs, crashLooping, lastLogLines }) => {
          const end = exit.signal ?? `code ${exit.code ?? '?'}`;
          progress.say(`${name} ended unexpectedly (${end}); starting it again in ${delayMs} ms`);
          if (crashLooping) {
            progress.say(
              [`${name} keeps ending; the last lines of its log:`, ...lastLogLines].join('\n    '),
            );
          }
        },
      });
      handles.push(handle);
      return handle;
    },
    processes: () => handles.flatMap(({ name, pid }) => (pid === undefined ? [] : [{ name, pid }])),
    async stopAll() {
      await Promise.all(handles.map((handle) => handle.stop()));
    },
  };
}
