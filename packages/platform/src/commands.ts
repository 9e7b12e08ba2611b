// Runs a command to its end, quietly: its output matters only when it fails.
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Guardian } from './guardian.js';
import { programEnvironment } from './program-environment.js';
import { signalGroup } from './signals.js';

export interface CommandOptions {
  cwd?: string;
  /** Added to this process's own environment. */
  env?: Readonly<Record<string, string>>;
  /** Ends the command when this process is killed. */
  guardian?: Guardian;
  timeoutMs?: number;
}

const KEPT_OUTPUT_CHARACTERS = 1_000_000;

/**
 * Runs a command and resolves with what it wrote to standard output.
 *
 * @throws Error with the last lines of its output, when it cannot be started, fails, or takes too long
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  if (options.guardian?.mayStart === false) {
    throw new Error(`${command} is not started: everything is being ended`);
  }
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      cwd: options.cwd,
      env: programEnvironment(options.env),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = new CommandOutput(child.stdout, child.stderr);
    const { pid } = child;
    if (pid !== undefined) {
      options.guardian?.guard(pid, 'SIGKILL');
    }
    const limit = new TimeLimit(pid, options.timeoutMs);
    const fail = (reason: string, cause?: unknown): void => {
      reject(new Error(`${command} ${args.join(' ')}: ${reason}\n    ${output.lastLines()}`, { cause }));
    };
    child.once('error', (error) => {
      limit.clear();
      fail(error.message, error);
    });
    child.once('close', (code, signal) => {
      limit.clear();
      if (pid !== undefined) {
        options.guardian?.release(pid);
      }
      if (code === 0) {
        resolve(output.standardOutput);
      } else {
        fail(limit.exceeded ?? `ended with ${signal ?? `code ${code ?? '?'}`}`);
      }
    });
  });
}

/** Keeps the end of what a command writes. */
class CommandOutput {
  #standard = '';
  #all = '';

  constructor(standardOutput: Readable, standardError: Readable) {
    standardOutput.setEncoding('utf8').on('data', (text: string) => {
      this.#standard = (this.#standard + text).slice(-KEPT_OUTPUT_CHARACTERS);
      this.#all = (this.#all + text).slice(-KEPT_OUTPUT_CHARACTERS);
    });
    standardError.setEncoding('utf8').on('data', (text: string) => {
      this.#all = (this.#all + text).slice(-KEPT_OUTPUT_CHARACTERS);
    });
  }

  get standardOutput(): string {
    return this.#standard;
  }

  /** The last lines of both streams, indented for an error message. */
  lastLines(): string {
    return this.#all.trim().split('\n').slice(-20).join('\n    ');
  }
}

/** Kills a command's process group when the command takes too long. */
class TimeLimit {
  readonly #timer: NodeJS.Timeout | undefined;
  #exceeded: string | undefined;

  constructor(pid: number | undefined, timeoutMs: number | undefined) {
    if (timeoutMs === undefined) {
      return;
    }
    this.#timer = setTimeout(() => {
      this.#exceeded = `did not end within ${timeoutMs} ms and was killed`;
      if (pid !== undefined) {
        signalGroup(pid, 'SIGKILL');
      }
    }, timeoutMs);
  }

  /** The reason for an error message once the limit was exceeded, else undefined. */
  get exceeded(): string | undefined {
    return this.#exceeded;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
