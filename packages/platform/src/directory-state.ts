// The state that a kept data folder carries from run to run, in its file `platform.json`.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from './process-identity.js';
import type { Progress } from './progress.js';

export interface RecordedProcess {
  name: string;
  identity: ProcessIdentity;
  stopSignal: NodeJS.Signals;
}

export interface DirectoryState {
  owner?: ProcessIdentity;
  /** Ports by purpose: `kafka-1`, `kafka-1-controller`. */
  ports: Record<string, number>;
  processes: RecordedProcess[];
  /** Facts that the data depends on, for example how many brokers it was made for. */
  facts: Record<string, string>;
}

const STATE_FILE = 'platform.json';

function readState(path: string): DirectoryState {
  try {
    const state = JSON.parse(readFileSync(join(path, STATE_FILE), 'utf8')) as Partial<DirectoryState>;
    return { ports: {}, processes: [], facts: {}, ...state };
  } catch {
    return { ports: {}, processes: [], facts: {} };
  }
}

/** The state of one folder, and the file that holds it. */
export class DirectoryStateFile {
  readonly state: DirectoryState;

  constructor(
    private readonly path: string,
    private readonly progress: Progress,
  ) {
    this.state = readState(path);
  }

  save(): void {
    const file = join(this.path, STATE_FILE);
    if (!existsSync(this.path)) {
      return; // the folder was removed while the platform runs: no later run will read its state
    }
    // Replaced atomically: a run that is killed here must not lose the list of its processes.
    writeFileSync(`${file}.new`, `${JSON.stringify(this.state, null, 2)}\n`);
    renameSync(`${file}.new`, file);
  }

  /** Saves, and only warns when it cannot (full disk): this process has the list in memory and can end the servers in order. */
  saveIfPossible(): void {
    try {
      this.save();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.progress.say(
        `the list of running servers could not be written to ${this.path} (${reason}). Free disk space: without the ` +
          'list, the next start cannot end servers that a killed run leaves behind',
      );
    }
  }
}
