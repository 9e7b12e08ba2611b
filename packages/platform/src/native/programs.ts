// Programs and files of this machine.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export function findProgram(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  // debootstrap lives in sbin, which a login by `su` may leave out of the path.
  const folders = [...(environment['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(file: string): boolean {
  return isAccessible(file, constants.X_OK);
}

export function isReadable(file: string): boolean {
  return isAccessible(file, constants.R_OK);
}

function isAccessible(file: string, mode: number): boolean {
  try {
    accessSync(file, mode);
    return true;
  } catch {
    return false;
  }
}
