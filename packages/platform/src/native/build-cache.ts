// Keeps downloads and builds in a folder outside the checkout, so that only the first start takes long. A part
// appears under its final name only when it is complete, and only one process builds it.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Progress } from '../progress.js';

export interface BuildCache {
  readonly path: string;
  /**
   * The folder of a part, built first if it is missing.
   *
   * @throws Error what `build` throws; nothing is kept then
   */
  part(name: string, build: (directory: string) => Promise<void>): Promise<string>;
  has(name: string): boolean;
  /** Runs `work` while no other process on this machine runs work under the same name. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
}

// A program of util-linux, which every Debian has.
const LOCK_PROGRAM = 'flock';

/** `$XDG_CACHE_HOME/lead-scoring`, or `~/.cache/lead-scoring`. */
export function cachePath(environment: NodeJS.ProcessEnv): string {
  const configured = environment['XDG_CACHE_HOME'];
  const base =
    configured === undefined || configured === ''
      ? join(environment['HOME'] ?? homedir(), '.cache')
      : configured;
  return join(base, 'lead-scoring');
}

/**
 * Takes an exclusive lock on a file and resolves with the function that releases it. A child process holds the lock until its
 * input, a pipe from this process, closes: when this process dies, however it dies, the lock is free again.
 */
async function lock(file: string, onWait: () => void): Promise<() => void> {
  const holder = spawn(LOCK_PROGRAM, ['--exclusive', file, 'sh', '-c', 'echo locked; exec cat'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = setTimeout(onWait, 1_000);
  try {
    await new Promise<void>((resolve, reject) => {
      holder.stdout.once('data', () => resolve());
      holder.once('error', reject);
      holder.once('exit', (code) => reject(new Error(`flock ended with ${code ?? 'a signal'}`)));
    });
  } finally {
    clearTimeout(waiting);
  }
  return () => holder.stdin.end();
}

/** Opens the cache, and creates its folder if there is none. */
export function openBuildCache(environment: NodeJS.ProcessEnv, progress: Progress): BuildCache {
  const path = cachePath(environment);
  mkdirSync(path, { recursive: true });

  const exclusively: BuildCache['exclusively'] = async (name, work) => {
    const release = await lock(join(path, `${name}.lock`), () =>
      progress.say(`${name}: waiting for another process that works on it`),
    );
    try {
      return await work();
    } finally {
      release();
    }
  };

  return {
    path,
    exclusively,
    has: (name) => existsSync(join(path, name)),
    async part(name, build) {
      const finished = join(path, name);
      if (existsSync(finished)) {
        return finished;
      }
      return exclusively(name, async () => {
        if (existsSync(finished)) {
          return finished;
        }
        // This process holds the lock, so any unfinished folder is left from a build that was killed.
        for (const leftover of readdirSync(path).filter((entry) => entry.startsWith(`.building-${name}-`))) {
          rmSync(join(path, leftover), { recursive: true, force: true });
        }
        const unfinished = join(path, `.building-${name}-${process.pid}`);
        // Not mkdtemp: a Debian root must be open to its unprivileged users.
        mkdirSync(unfinished, { mode: 0o755 });
        try {
          await build(unfinished);
          renameSync(unfinished, finished);
        } finally {
          rmSync(unfinished, { recursive: true, force: true });
        }
        return finished;
      });
    },
  };
}
