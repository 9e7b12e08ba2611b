// Runs a command to its end, quietly: its output matters only when it fails.
import { spawn } from 'node:child_process';
import type { Guardian } from './guardian.js';

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
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let all = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT_CHARACTERS);
      all = (all + text).slice(-KEPT_OUTPUT_CHARACTERS);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      all = (all + text).slice(-KEPT_OUTPUT_CHARACTERS);
    });
    const { pid } = child;
    if (pid !== undefined) {
      options.guardian?.guard(pid, 'SIGKILL');
    }
    let timedOut = false;
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            if (pid !== undefined) {
              try {
                process.kill(-pid, 'SIGKILL');
              } catch {
                // Gone in between.
              }
            }
          }, options.timeoutMs);
    const fail = (reason: string, cause?: unknown): void => {
      const tail = all.trim().split('\n').slice(-20).join('\n    ');
      reject(new Error(`${command} ${args.join(' ')}: ${reason}\n    ${tail}`, { cause }));
    };
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(error.message, error);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (pid !== undefined) {
        options.guardian?.release(pid);
      }
      if (code === 0) {
        resolve(output);
      } else {
        fail(
          timedOut
            ? `no end after ${options.timeoutMs ?? 0} ms`
            : `ended with ${signal ?? `code ${code ?? '?'}`}`,
        );
      }
    });
  });
}
