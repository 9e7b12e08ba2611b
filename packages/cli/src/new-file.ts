// Files that commands write for people to go on with: only new ones, so that none is overwritten that was corrected by hand.
import { access, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandFailed, exitCodes } from './errors.js';

/**
 * Writes a file.
 * @param options.mode who may read it; default: as the process makes files
 * @throws CommandFailed for a file that is there
 */
export async function writeNew(file: string, text: string, options: { mode?: number } = {}): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', ...options });
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'EEXIST')
      throw existsAlready(file, error);
    throw error;
  }
}

/** Finds out before a long wait whether `writeNew` can write the file: it is not there, and its folder is. */
export async function ensureNew(file: string): Promise<void> {
  await access(dirname(file));
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw existsAlready(file);
}

function existsAlready(file: string, cause?: unknown): CommandFailed {
  return new CommandFailed(`${file} exists already: name another file, or delete it.`, exitCodes.usage, {
    cause,
  });
}
