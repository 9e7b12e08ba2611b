// Programs and files of this machine.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { programFolders } from '../program-environment.js';

export function findProgram(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  return programFolders(environment['PATH'])
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
