// `npm run dev`: when a source file changes, its package or service is built, and the services that it affects are restarted.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { RunningSystem } from '../system.js';
import { watchDirectory, type DirectoryWatch } from './directory-watch.js';
import { affectedBy, readWorkspaces, type Workspace } from './workspaces.js';

export interface SourceFollowerOptions {
  root: string;
  system: Pick<RunningSystem, 'services' | 'ready'>;
  say: (message: string) => void;
  /** Makes the programs of services from the sources, which the compiler has checked. */
  bundle: (services: readonly string[]) => Promise<unknown>;
}

export interface SourceFollower {
  /** Stops following; resolves when a build in progress has ended. */
  stop(): Promise<void>;
}

/** The pause after the last change before a build: several files are often written together. */
const quietMs = 100;
const readyWithinMs = 30_000;

/** Follows changes from now on. One that does not compile is reported and restarts nothing; it is built again with the next. */
export function followSources(options: SourceFollowerOptions): SourceFollower {
  return new Follower(options);
}

class Follower implements SourceFollower {
  readonly #options: SourceFollowerOptions;
  readonly #workspaces: Workspace[];
  readonly #watches: DirectoryWatch[];
  /** Files whose change has not been built and started yet, as paths from the root. */
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();
  /** Counts restarts: readiness is reported only for the latest one. */
  #restarts = 0;

  constructor(options: SourceFollowerOptions) {
    this.#options = options;
    this.#workspaces = readWorkspaces(options.root);
    this.#watches = this.#workspaces
      .map(({ folder }) => join(options.root, folder, 'src'))
      .filter((folder) => existsSync(folder))
      .map((folder) =>
        watchDirectory(folder, (file) => {
          this.#addChange(relative(options.root, file));
        }),
      );
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    for (const watch of this.#watches) watch.stop();
    await this.#work;
  }

  #addChange(file: string): void {
    if (!file.endsWith('.ts')) return;
    this.#changed.add(file);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#work = this.#work.then(() => this.#buildAndRestart());
    }, quietMs);
  }

  async #buildAndRestart(): Promise<void> {
    const { root, say, bundle } = this.#options;
    const files = [...this.#changed];
    if (files.length === 0) return;
    const startedAt = Date.now();
    const { folders, services } = affectedBy(this.#workspaces, files);
    say(`${files.join(', ')}: building ${folders.join(', ')} …`);
    const errors = (await compile(root, folders)) ?? (await messageOfFailure(bundle(services)));
    if (errors !== undefined) {
      say(`${errors}\nNothing was restarted; the next change is built together with this one.`);
      return;
    }
    for (const file of files) this.#changed.delete(file);
    if (services.length === 0) {
      say('Built; no running service uses it.');
      return;
    }
    await this.#restart(services);
    say(`Built and restarted ${services.join(', ')} in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`);
    this.#sayWhenReady(services, startedAt);
  }

  async #restart(names: readonly string[]): Promise<void> {
    const { system, say } = this.#options;
    this.#restarts += 1;
    await Promise.all(
      system.services
        .filter(({ name }) => names.includes(name))
        .map(({ process, processName }) =>
          process.restart().catch((error: unknown) => {
            say(`${processName} could not be restarted: ${String(error)}`);
          }),
        ),
    );
  }

  #sayWhenReady(names: readonly string[], startedAt: number): void {
    const { system, say } = this.#options;
    const restart = this.#restarts;
    const unlessOutdated = (message: string) => {
      if (restart === this.#restarts) say(message);
    };
    system.ready(readyWithinMs).then(
      () => {
        unlessOutdated(
          `${names.join(', ')}: ready ${((Date.now() - startedAt) / 1_000).toFixed(1)} s after the change`,
        );
      },
      (error: unknown) => {
        unlessOutdated(error instanceof Error ? error.message : String(error));
      },
    );
  }
}

function messageOfFailure(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** Builds folders and those they reference. Resolves with the compiler's messages when it finds errors, else with undefined. */
function compile(root: string, folders: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      join(root, 'node_modules/.bin/tsc'),
      ['-b', ...folders],
      { cwd: root, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        resolve(error === null ? undefined : `${stdout}${stderr}`.trim() || error.message);
      },
    );
  });
}
