// The folder of data, logs and secrets: made if it is missing, and tried before anything starts in it.
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';

/** Servers with new data take about 200 MB. */
export const leastFreeBytes = 300_000_000;

/**
 * Makes the folder and writes a file in it.
 * @throws Error that names the folder, says why no server can keep data in it, and what to do
 */
export async function prepareRunDirectory(directory: string, leastBytes = leastFreeBytes): Promise<void> {
  try {
    await mkdir(directory, { recursive: true });
    // First, because on a disk that can only be read, mkdir reports that its parent is missing.
    await tryToWrite(join(directory, `.writable.${String(process.pid)}`));
    await mkdir(join(directory, 'logs'), { recursive: true });
  } catch (error) {
    throw new Error(directoryProblem(directory, error), { cause: error });
  }
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free < leastBytes)
    throw new Error(
      `The disk of ${directory} has ${megabytes(free)} free, and servers and logs need ${megabytes(leastBytes)}: ${freeSpace}.`,
    );
}

async function tryToWrite(file: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile('This folder can be written.\n');
    await handle.sync();
  } finally {
    await handle.close();
    await rm(file, { force: true });
  }
}

const another = 'set LEAD_SCORING_RUN_DIRECTORY to another folder';
const freeSpace = `free space, or ${another}`;

/** A sentence on the reason why the folder cannot be used. */
export function directoryProblem(directory: string, error: unknown): string {
  const { code, path, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `${path ?? directory} is not a folder, or lies below a file, and data and logs need a folder there: move the file away, or ${another}.`;
    case 'EACCES':
    case 'EPERM':
      return `${directory} cannot be written by this user: give the user the right, or ${another}.`;
    case 'ENOENT':
      return `${directory} cannot be made; its disk may be one that can only be read: make the folder, or ${another}.`;
    case 'EROFS':
      return `${directory} is on a disk that can only be read: mount the disk for writing, or ${another}.`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `The disk of ${directory} is full: ${freeSpace}.`;
    default:
      return `${directory} cannot be used for data and logs (${message}): ${another}.`;
  }
}

function megabytes(bytes: number): string {
  return `${String(Math.floor(bytes / 1_000_000))} MB`;
}
