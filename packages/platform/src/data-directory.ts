// The folder that holds a platform's data. A kept one remembers its ports and its processes, so that the
// next start finds the same addresses and ends what a killed run left behind. A temporary one is removed.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, isPortFree } from './ports.js';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.js';
import type { Progress } from './progress.js';

interface RecordedProcess {
  name: string;
  identity: ProcessIdentity;
  stopSignal: NodeJS.Signals;
}

interface DirectoryState {
  owner?: ProcessIdentity;
  /** Ports by what they are for. */
  ports: Record<string, number>;
  processes: RecordedProcess[];
  /** Facts that the data depends on, for example how many brokers it was made for. */
  facts: Record<string, string>;
}

export interface DataDirectory {
  readonly path: string;
  readonly temporary: boolean;
  /** A port for each name: the one used last time if it is free, else a new one. */
  ports<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>>;
  /** The value remembered under that name, or else the one given, remembered from now on. */
  fact(name: string, initial: () => string): string;
  /** Remembers a running process. The name stands for one process: a restart replaces the entry. */
  recordProcess(name: string, pid: number, stopSignal: NodeJS.Signals): void;
  forgetProcess(name: string): void;
  /** Gives the folder free for the next run; removes it when it is temporary. */
  close(): void;
}

const STATE_FILE = 'platform.json';
const KILL_AFTER_MS = 10_000;

function readState(path: string): DirectoryState {
  try {
    const state = JSON.parse(readFileSync(join(path, STATE_FILE), 'utf8')) as Partial<DirectoryState>;
    return { ports: {}, processes: [], facts: {}, ...state };
  } catch {
    return { ports: {}, processes: [], facts: {} };
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone in between.
  }
}

/** Ends processes that a killed run left behind, each only if it is still the very one recorded. */
async function endLeftBehind(processes: readonly RecordedProcess[], progress: Progress): Promise<void> {
  const living = (): RecordedProcess[] => processes.filter(({ identity }) => isAlive(identity));
  const found = living();
  if (found.length === 0) {
    return;
  }
  const names = found.map(({ name, identity }) => `${name} (${identity.pid})`).join(', ');
  await progress.step(`ending what an earlier run left behind: ${names}`, async () => {
    for (const { identity, stopSignal } of found) {
      // A process paused with SIGSTOP takes no other signal but SIGKILL.
      signalGroup(identity.pid, 'SIGCONT');
      signalGroup(identity.pid, stopSignal);
    }
    const deadline = Date.now() + KILL_AFTER_MS;
    while (living().length > 0) {
      if (Date.now() > deadline) {
        living().forEach(({ identity }) => signalGroup(identity.pid, 'SIGKILL'));
      }
      await delay(100);
    }
  });
}

/**
 * Takes a folder for a platform's data: the one given, or else a new temporary one.
 *
 * @throws Error when a living run holds the folder
 */
export async function openDataDirectory(
  directory: string | undefined,
  progress: Progress,
): Promise<DataDirectory> {
  const temporary = directory === undefined;
  const path = temporary ? mkdtempSync(join(tmpdir(), 'lead-scoring-')) : resolve(directory);
  mkdirSync(path, { recursive: true });
  const state = readState(path);
  if (state.owner && isAlive(state.owner)) {
    throw new Error(`${path} is in use by the running process ${state.owner.pid}; stop that one first`);
  }
  const save = (): void => {
    const file = join(path, STATE_FILE);
    if (!existsSync(path)) {
      return; // somebody removed it under a running platform; there is nothing to remember for
    }
    // Whole or not at all: a run killed in the middle must not lose the list of its processes.
    writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`);
    renameSync(`${file}.new`, file);
  };
  /** On a full disk the servers go on: what ends them in order is known here as well. */
  const saveIfPossible = (): void => {
    try {
      save();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      progress.say(`which servers run could not be written to ${path} (${reason}); free the disk`);
    }
  };
  const self = identityOf(process.pid);
  if (self) {
    state.owner = self;
  }
  save();
  await endLeftBehind(state.processes, progress);
  state.processes = [];
  save();
  const assigned = new Set<number>();

  return {
    path,
    temporary,
    async ports<Name extends string>(names: readonly Name[]) {
      const entries: [Name, number][] = [];
      for (const name of names) {
        const previous = state.ports[name];
        let port = previous !== undefined && (await isPortFree(previous)) ? previous : await freePort();
        // Several servers ask at the same time; what one was given need not be in use yet.
        while (assigned.has(port)) {
          port = await freePort();
        }
        assigned.add(port);
        state.ports[name] = port;
        entries.push([name, port]);
      }
      save();
      return Object.fromEntries(entries) as Record<Name, number>;
    },
    fact(name, initial) {
      const value = (state.facts[name] ??= initial());
      save();
      return value;
    },
    recordProcess(name, pid, stopSignal) {
      const identity = identityOf(pid);
      if (identity) {
        state.processes = state.processes.filter((entry) => entry.name !== name);
        state.processes.push({ name, identity, stopSignal });
        saveIfPossible();
      }
    },
    forgetProcess(name) {
      state.processes = state.processes.filter((entry) => entry.name !== name);
      saveIfPossible();
    },
    close() {
      if (temporary) {
        rmSync(path, { recursive: true, force: true, maxRetries: 5 });
      } else {
        delete state.owner;
        save();
      }
    },
  };
}
