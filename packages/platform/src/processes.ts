// A small supervisor: runs a program as a child process with a log file, waits until it is ready,
// starts it again when it dies unexpectedly, and ends it in order.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Guardian } from './guardian.js';
import { programEnvironment } from './program-environment.js';
import { signalGroup } from './signals.js';
import { waitUntil } from './waiting.js';

export interface ProcessExit {
  name: string;
  code: number | null;
  signal: NodeJS.Signals | null;
  /** True when `stop` was called; false for every other end, whatever the exit code. */
  expected: boolean;
}

export interface ProcessRestart {
  name: string;
  exit: ProcessExit;
  /** How many times in a row it has died soon after its start, this one included. */
  attempt: number;
  delayMs: number;
  /** True from `crashLoopAttempts` early deaths in a row on: the cause is not one that a restart repairs. */
  crashLooping: boolean;
  lastLogLines: string[];
}

export interface ProcessOptions {
  name: string;
  command: string;
  args?: readonly string[];
  /** Added to this process's own environment; a function is called at each start. */
  env?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  cwd?: string;
  /** Standard output and error are appended here; the folder is made. */
  logFile: string;
  /** Restart it, after a growing pause, when it ends without a call of `stop`. Default: no. */
  restart?: boolean;
  /** Default: 30,000. */
  longestRestartDelayMs?: number;
  /** Ready when a GET answers 2xx. */
  readyUrl?: string;
  /** Ready when this resolves; called until it does. For programs without HTTP. */
  ready?: () => Promise<unknown>;
  /** Default: 60,000. */
  readyTimeoutMs?: number;
  /** Default: SIGTERM. */
  stopSignal?: NodeJS.Signals;
  /** SIGKILL when it has not ended by then. Default: 10,000. */
  stopTimeoutMs?: number;
  /** Ends the process when this one is killed. */
  guardian?: Guardian;
  /** Runs before each start, restarts included. */
  beforeStart?: () => Promise<void>;
  onStart?: (pid: number) => void;
  onExit?: (exit: ProcessExit) => void;
  onRestart?: (restart: ProcessRestart) => void;
}

export interface ProcessHandle {
  readonly name: string;
  /** Undefined while it is not running, for example in the pause before a restart. */
  readonly pid: number | undefined;
  /** Sends a signal to the process, as a fault from outside would: a supervised process is restarted. */
  kill(signal: NodeJS.Signals): void;
  /**
   * Ends it (the stop signal, then SIGKILL after the deadline) and does not start it again.
   * Resolves when it is gone; calling it twice is fine.
   */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /**
   * Starts it again after `stop`.
   *
   * @throws Error as startProcess does
   */
  start(): Promise<void>;
  /**
   * Ends it in order and starts it again, at once also where it keeps dying and waits for its next start.
   *
   * @throws Error as startProcess does
   */
  restart(): Promise<void>;
}

const STABLE_AFTER_MS = 30_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** Early deaths in a row from which `crashLooping` is true. */
export const crashLoopAttempts = 3;
const LOG_SIZE_LIMIT_BYTES = 20_000_000;

/** The pause before the nth start in a row, in milliseconds: 250, 500, 1,000 … up to the longest. */
export function restartDelayMs(attempt: number, longestMs = LONGEST_DELAY_MS): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), longestMs);
}

/** The last lines of a text file, oldest first; none when it cannot be read. */
function lastLines(file: string, count: number): string[] {
  const limitBytes = 16_384;
  try {
    const { size } = statSync(file);
    const buffer = Buffer.alloc(Math.min(size, limitBytes));
    const descriptor = openSync(file, 'r');
    try {
      readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    } finally {
      closeSync(descriptor);
    }
    return buffer
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-count);
  } catch {
    return [];
  }
}

function openLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  try {
    if (statSync(file).size > LOG_SIZE_LIMIT_BYTES) {
      renameSync(file, `${file}.1`);
    }
  } catch {
    // No log yet.
  }
  return openSync(file, 'a');
}

class SupervisedProcess implements ProcessHandle {
  readonly #options: ProcessOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #stopping = false;
  /** While true, an exit is reported as an error of `start`; it causes no restart. */
  #starting = false;
  #earlyDeaths = 0;
  #cancelRestart = new AbortController();

  constructor(options: ProcessOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async start(): Promise<void> {
    if (this.#child) {
      return;
    }
    this.#cancelRestart.abort();
    this.#stopping = false;
    this.#cancelRestart = new AbortController();
    this.#starting = true;
    try {
      await this.#launch();
      await this.#waitUntilReady();
    } catch (error) {
      await this.stop('SIGKILL');
      throw error;
    } finally {
      this.#starting = false;
    }
  }

  async stop(signal: NodeJS.Signals = this.#options.stopSignal ?? 'SIGTERM'): Promise<void> {
    this.#stopping = true;
    this.#cancelRestart.abort();
    const child = this.#child;
    if (!child) {
      return;
    }
    // A process paused with SIGSTOP takes no other signal but SIGKILL.
    child.kill('SIGCONT');
    child.kill(signal);
    const deadline = new AbortController();
    const killed = delay(this.#options.stopTimeoutMs ?? 10_000, undefined, { signal: deadline.signal }).then(
      () => {
        if (child.pid !== undefined) {
          signalGroup(child.pid, 'SIGKILL');
        }
      },
      () => undefined,
    );
    await this.#ended;
    deadline.abort();
    await killed;
  }

  async restart(): Promise<void> {
    await this.stop();
    // Earlier deaths do not count: the program may have been rebuilt since.
    this.#earlyDeaths = 0;
    await this.start();
  }

  async #launch(): Promise<void> {
    const options = this.#options;
    await options.beforeStart?.();
    if (this.#stopping) {
      return;
    }
    if (!mayStart(options)) {
      this.#stopping = true;
      throw new Error(`${options.name} is not started: everything is being ended`);
    }
    const log = openLog(options.logFile);
    const startedAt = Date.now();
    // A process group of its own: Ctrl-C in the terminal reaches only this process, which then ends the child in order.
    const child = spawn(options.command, [...(options.args ?? [])], {
      cwd: options.cwd,
      env: programEnvironment(typeof options.env === 'function' ? options.env() : options.env),
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    if (child.pid !== undefined) {
      options.guardian?.guard(child.pid, options.stopSignal ?? 'SIGTERM');
    }
    const spawned = new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#child = undefined;
        if (child.pid !== undefined) {
          options.guardian?.release(child.pid);
        }
        const exit = { name: options.name, code, signal, expected: this.#stopping };
        resolve();
        options.onExit?.(exit);
        if (!this.#stopping && !this.#starting && options.restart === true && mayStart(options)) {
          void this.#restart(exit, Date.now() - startedAt);
        }
      });
    });
    try {
      await spawned;
    } catch (error) {
      this.#child = undefined;
      throw new Error(`${options.name}: could not start ${options.command}`, { cause: error });
    }
    if (child.pid !== undefined) {
      options.onStart?.(child.pid);
    }
  }

  async #restart(exit: ProcessExit, livedMs: number): Promise<void> {
    this.#earlyDeaths = livedMs >= STABLE_AFTER_MS ? 1 : this.#earlyDeaths + 1;
    const delayMs = restartDelayMs(this.#earlyDeaths, this.#options.longestRestartDelayMs);
    this.#options.onRestart?.({
      name: this.#options.name,
      exit,
      attempt: this.#earlyDeaths,
      delayMs,
      crashLooping: this.#earlyDeaths >= crashLoopAttempts,
      lastLogLines: lastLines(this.#options.logFile, 15),
    });
    try {
      await delay(delayMs, undefined, { signal: this.#cancelRestart.signal });
    } catch {
      return; // stopped in the pause
    }
    try {
      await this.#launch();
    } catch {
      if (!this.#stopping) {
        await this.#restart(exit, 0);
      }
    }
  }

  async #waitUntilReady(): Promise<void> {
    const { name, ready, readyUrl, readyTimeoutMs = 60_000, logFile } = this.#options;
    const checks: (() => Promise<unknown>)[] = [];
    if (readyUrl !== undefined) {
      checks.push(() => fetchOk(readyUrl));
    }
    if (ready) {
      checks.push(ready);
    }
    for (const check of checks) {
      await waitUntil(
        async () => {
          if (!this.#child) {
            throw new Error('not running');
          }
          await check();
        },
        {
          description: `${name} did not become ready`,
          timeoutMs: readyTimeoutMs,
          abortReason: () =>
            this.#child
              ? undefined
              : ['it ended; the last lines of its log:', ...lastLines(logFile, 15)].join('\n    '),
        },
      );
    }
  }
}

function mayStart({ guardian }: ProcessOptions): boolean {
  return guardian?.mayStart !== false;
}

async function fetchOk(url: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  await response.arrayBuffer();
  if (!response.ok) {
    throw new Error(`${url} answered ${response.status}`);
  }
}

/**
 * Starts a program and supervises it. Resolves when it runs and, if `ready` or `readyUrl` is given, is ready.
 *
 * @throws Error when the program cannot be started, ends before it is ready (with the last lines of its
 *   log), or is not ready in time; nothing is left running then
 */
export async function startProcess(options: ProcessOptions): Promise<ProcessHandle> {
  const supervised = new SupervisedProcess(options);
  await supervised.start();
  return supervised;
}
