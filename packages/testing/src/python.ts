// A Python with the packages that a file lists, for tools and clients that come from PyPI: installed into a cache outside of the checkout.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProgress, openBuildCache } from '@lead-scoring/platform';
import { runProgram as run, type ProgramOptions } from './run-program.js';

const ownRequirements = join(import.meta.dirname, '../python/requirements.txt');

export interface Python {
  /** The path of its program. */
  program: string;
  run(args: readonly string[], options?: ProgramOptions): Promise<{ code: number; output: string }>;
}

/**
 * Installs the packages in a virtual environment, unless an earlier run did.
 *
 * @param requirements a file for pip; default: that of the tests' own tools
 * @throws Error if there is no suitable Python; its message says what to install
 */
export async function pythonWithPackages(requirements = ownRequirements): Promise<Python> {
  const version = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const cache = openBuildCache(
    process.env,
    createProgress(() => undefined),
  );
  const home = await cache.part(`python-${version}`, async (folder) => {
    await makeEnvironment(folder, ['--requirement', requirements]);
  });
  return pythonOf(home);
}

function pythonOf(home: string): Python {
  return {
    program: join(home, 'bin/python'),
    run: (args, options) => run(join(home, 'bin/python'), args, options),
  };
}

/**
 * Makes a virtual environment in a folder.
 *
 * @param packages for pip: arguments that say what to install
 * @throws Error if there is no suitable Python; its message says what to install
 */
export async function makeEnvironment(folder: string, packages: readonly string[]): Promise<Python> {
  const venv = () => run('python3', ['-m', 'venv', '--clear', folder]);
  let made = await venv();
  if (made.code !== 0 && process.getuid?.() === 0) {
    await run('apt-get', ['update', '-qq']);
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'python3-venv'], {
      environment: { DEBIAN_FRONTEND: 'noninteractive' },
    });
    made = await venv();
  }
  if (made.code !== 0)
    throw new Error(
      `Some tests need Python 3.10 or newer with venv: install python3 and python3-venv, then try again.\n${made.output}`,
    );
  const installed = await run(join(folder, 'bin/python'), [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    ...packages,
  ]);
  if (installed.code !== 0)
    throw new Error(`pip install ${packages.join(' ')}, from PyPI, has failed:\n${installed.output}`);
  return pythonOf(folder);
}
