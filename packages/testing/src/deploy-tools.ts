// Programs that the tests of deployments need: tools of operators, which the system itself does without.
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** By name: how to install it. */
const installation = {
  prometheus: 'apt-get install prometheus',
  promtool: 'apt-get install prometheus',
  helm: 'go install helm.sh/helm/v3/cmd/helm@v3.16.4',
  'kubernetes-validate': 'pipx install kubernetes-validate',
  go: 'apt-get install golang-go',
} as const;

/**
 * The path of a program, from PATH or the folder of Go's programs.
 * @throws Error with the command that installs it
 */
export function toolPath(name: keyof typeof installation): string {
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    join(homedir(), 'go/bin'),
    '/usr/local/go/bin',
  ];
  const found = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (found === undefined)
    throw new Error(`This test needs ${name}, which is not installed: ${installation[name]}`);
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
