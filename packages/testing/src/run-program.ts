// Runs a program to its end, with its output as text.
import { spawn } from 'node:child_process';

export interface ProgramOptions {
  /** Added to this process's own. */
  environment?: Record<string, string>;
  /** Where it runs; default: this process's folder. */
  folder?: string;
  input?: string;
}

export interface ProgramOutcome {
  code: number;
  /** Both outputs. */
  output: string;
  stdout: string;
}

/** Never rejects: of a program that is not there the code is 127. */
export function runProgram(
  command: string,
  args: readonly string[],
  { environment, folder, input }: ProgramOptions = {},
): Promise<ProgramOutcome> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...environment },
      ...(folder !== undefined && { cwd: folder }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // A program that reads no input may end before it is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    let output = '';
    let stdout = '';
    child.stdout.on('data', (text: Buffer) => {
      output += text.toString();
      stdout += text.toString();
    });
    child.stderr.on('data', (text: Buffer) => (output += text.toString()));
    child.on('error', (error) => {
      resolve({ code: 127, output: error.message, stdout: '' });
    });
    child.on('close', (code) => {
      resolve({ code: code ?? 1, output, stdout });
    });
  });
}
