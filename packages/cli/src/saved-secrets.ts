// The secrets that a restored system needs, in a file of their own: `lead-scoring backup --with-secrets`.
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { CommandFailed, exitCodes } from './errors.js';
import { writeNew } from './new-file.js';
import type { Settings } from './settings.js';

/**
 * Writes the secrets to a new file that only its owner may read: those of the environment as lines for `.env`, else
 * `secrets.json` of `npm start` as it is.
 * @throws CommandFailed for a file in the folder of the backup, one that exists, and where no secrets are found
 */
export async function saveSecrets(file: string, folder: string, settings: Settings): Promise<void> {
  const inFolder = relative(resolve(folder), resolve(file));
  if (inFolder === '' || (!inFolder.startsWith(`..${sep}`) && inFolder !== '..'))
    throw new CommandFailed(
      `${file} is in the folder of the backup: name a file in another place, so that whoever finds the one does not have the other.`,
      exitCodes.usage,
    );
  const content = linesOf(settings.secrets) ?? (await startSecrets(settings.startFile));
  if (content === null)
    throw new CommandFailed(
      'No secrets are found: set SEALING_SECRET and TOKEN_SECRET as the services have them, or run the command in the checkout of `npm start`.',
      exitCodes.usage,
    );
  await writeNew(file, content, { mode: 0o600 });
}

function linesOf(secrets: Settings['secrets']): string | null {
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  return lines.length > 0 ? lines.join('') : null;
}

async function startSecrets(startFile: string | null): Promise<string | null> {
  if (startFile === null) return null;
  return readFile(join(dirname(startFile), 'secrets.json'), 'utf8').catch(() => null);
}
