// Installs Schemathesis from PyPI into a cache outside of the checkout, and runs it. Schemathesis generates valid and invalid
// requests from an OpenAPI document.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const requirements = join(import.meta.dirname, '../schemathesis/requirements.txt');

export interface Schemathesis {
  /** Runs `st` with these arguments, in a folder for its temporary files. */
  run(
    args: readonly string[],
    folder: string,
    environment?: Record<string, string>,
  ): Promise<{ code: number; output: string }>;
}

/**
 * Installs Schemathesis in a virtual environment, unless an earlier run did.
 *
 * @throws Error if there is no suitable Python; its message says what to install
 */
export async function schemathesis(): Promise<Schemathesis> {
  const version = /^schemathesis==(.+)$/m.exec(await readFile(requirements, 'utf8'))?.[1] ?? 'unknown';
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lead-scoring');
  const home = join(cache, `schemathesis-${version}`);
  if (!existsSync(home)) await install(cache, home);
  // Not the `st` script, which contains the path of the folder in which it was installed.
  return {
    run: (args, folder, environment) =>
      run(
        join(home, 'bin/python'),
        ['-c', 'from schemathesis.cli import schemathesis; schemathesis()', ...args],
        environment,
        folder,
      ),
  };
}

/** Installs atomically: in a temporary folder, which is renamed at the end. */
async function install(cache: string, home: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'making-schemathesis-'));
  try {
    const venv = () => run('python3', ['-m', 'venv', '--clear', folder]);
    let made = await venv();
    if (made.code !== 0 && process.getuid?.() === 0) {
      await run('apt-get', ['update', '-qq']);
      await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'python3-venv'], {
        DEBIAN_FRONTEND: 'noninteractive',
      });
      made = await venv();
    }
    if (made.code !== 0)
      throw new Error(
        `Schemathesis needs Python 3.10 or newer with venv: install python3 and python3-venv, then try again.\n${made.output}`,
      );
    const installed = await run(join(folder, 'bin/python'), [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--requirement',
      requirements,
    ]);
    if (installed.code !== 0)
      throw new Error(`Schemathesis could not be installed from PyPI:\n${installed.output}`);
    // A concurrent run may have installed it already.
    await rename(folder, home).catch((error: unknown) => {
      if (!existsSync(home)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(
  command: string,
  args: readonly string[],
  environment: Record<string, string> = {},
  folder?: string,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...environment },
      ...(folder !== undefined && { cwd: folder }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (text: Buffer) => (output += text.toString()));
    child.stderr.on('data', (text: Buffer) => (output += text.toString()));
    child.on('error', (error) => {
      resolve({ code: 127, output: error.message });
    });
    child.on('close', (code) => {
      resolve({ code: code ?? 1, output });
    });
  });
}
