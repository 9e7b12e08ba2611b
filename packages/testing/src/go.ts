// Go programs, for tests of what others write: built with the machine's Go and modules from the module proxy.
import { spawnSync } from 'node:child_process';

/** Go 1.26, which the modules of the examples need. */
const wanted = 'Go 1.26 or newer (an older Go of at least 1.21 fetches it)';

/**
 * Builds the program in a folder.
 *
 * @param folder with a go.mod
 * @param target the path of the built program
 * @returns how to start it
 * @throws Error if there is no suitable Go, or it cannot build; the message says what to install
 */
export function buildGo(folder: string, target: string): { command: string; args: readonly string[] } {
  const { status, error, stderr } = spawnSync('go', ['build', '-o', target, '.'], {
    cwd: folder,
    encoding: 'utf8',
    env: { CGO_ENABLED: '0', ...process.env },
  });
  if (error) throw new Error(`This test needs ${wanted}: install it, then try again.`, { cause: error });
  if (status !== 0) throw new Error(`go build in ${folder}, which needs ${wanted}:\n${stderr}`);
  return { command: target, args: [] };
}
