// The environment of the programs that the platform runs.
import { delimiter } from 'node:path';

/** Where Debian keeps the programs of its administrator: chroot, debootstrap, and those that dpkg calls. */
const administratorFolders = ['/usr/sbin', '/sbin'];

/**
 * The folders in which a program is looked for: those of PATH, then the administrator's. `su` without `-`, and cron, leave these out of
 * PATH for root too.
 */
export function programFolders(path = ''): string[] {
  const folders = [...path.split(delimiter), ...administratorFolders];
  return [...new Set(folders.filter((folder) => folder !== ''))];
}

/** This process's own environment with some variables added, and a PATH of all programFolders. */
export function programEnvironment(
  added: Readonly<Record<string, string>> = {},
  own: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const environment = { ...own, ...added };
  return { ...environment, PATH: programFolders(environment['PATH']).join(delimiter) };
}
