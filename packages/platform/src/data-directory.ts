// The folder that holds a platform's data. A kept one remembers its ports and its processes, so that the
// next start finds the same addresses and ends what a killed run left behind. A temporary one is removed.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DirectoryStateFile, type RecordedProcess } from './directory-state.js';
import { freePort, isPortFree } from './ports.js';
import { identityOf, isAlive } from './process-identity.js';
import type { Progress } from './progress.js';
import { signalGroup } from './signals.js';

export interface DataDirectory {
  readonly path: string;
  readonly temporary: boolean;
  /** A port for each name: the one used last time if it is free, else a new one. */
  ports<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>>;
  /** The value stored under the name; when there is none, stores `initial()` and returns it. */
  fact(name: string, initial: () => string): string;
  /** Records a running process. A restart under the same name replaces the entry. */
  recordProcess(name: string, pid: number, stopSignal: NodeJS.Signals): void;
  forgetProcess(name: string): void;
  /** Releases the folder for the next run; removes it when it is temporary. */
  close(): void;
}

const KILL_AFTER_MS = 10_000;

/** Ends the processes that a killed run left behind, each only if its identity is the recorded one. */
async function endLeftBehind(processes: readonly RecordedProcess[], progress: Progress): Promise<void> {
  const living = (): RecordedProcess[] => processes.filter(({ identity }) => isAlive(identity));
  const found = living();
  if (found.length === 0) {
    return;
  }
  const names = found.map(({ name, identity }) => `${name} (${identity.pid})`).join(', ');
  await progress.step(`ending processes of an earlier run: ${names}`, async () => {
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
 * Claims the folder for a platform's data; without a name, a new temporary one.
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
  const file = new DirectoryStateFile(path, progress);
  const { state } = file;
  if (state.owner && isAlive(state.owner)) {
    throw new Error(`${path} is in use by the running process ${state.owner.pid}; stop that process first`);
  }
  const self = identityOf(process.pid);
  if (self) {
    state.owner = self;
  }
  file.save();
  await endLeftBehind(state.processes, progress);
  state.processes = [];
  file.save();
  return new OwnedDirectory(path, temporary, file);
}

/** A data folder that this process has claimed. */
class OwnedDirectory implements DataDirectory {
  readonly #assignedPorts = new Set<number>();

  constructor(
    readonly path: string,
    readonly temporary: boolean,
    private readonly file: DirectoryStateFile,
  ) {}

  async ports<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>> {
    const entries: [Name, number][] = [];
    for (const name of names) {
      entries.push([name, await this.#assignPort(name)]);
    }
    this.file.save();
    return Object.fromEntries(entries) as Record<Name, number>;
  }

  async #assignPort(name: string): Promise<number> {
    const previous = this.file.state.ports[name];
    let port = previous !== undefined && (await isPortFree(previous)) ? previous : await freePort();
    // Several servers ask at the same time: a port that was assigned to one may not be in use yet.
    while (this.#assignedPorts.has(port)) {
      port = await freePort();
    }
    this.#assignedPorts.add(port);
    this.file.state.ports[name] = port;
    return port;
  }

  fact(name: string, initial: () => string): string {
    const value = (this.file.state.facts[name] ??= initial());
    this.file.save();
    return value;
  }

  recordProcess(name: string, pid: number, stopSignal: NodeJS.Signals): void {
    const identity = identityOf(pid);
    if (identity) {
      this.#removeRecord(name);
      this.file.state.processes.push({ name, identity, stopSignal });
      this.file.saveIfPossible();
    }
  }

  forgetProcess(name: string): void {
    this.#removeRecord(name);
    this.file.saveIfPossible();
  }

  #removeRecord(name: string): void {
    const { state } = this.file;
    state.processes = state.processes.filter((entry) => entry.name !== name);
  }

  close(): void {
    if (this.temporary) {
      rmSync(this.path, { recursive: true, force: true, maxRetries: 5 });
    } else {
      delete this.file.state.owner;
      this.file.save();
    }
  }
}
