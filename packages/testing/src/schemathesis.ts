// Runs Schemathesis, which generates valid and invalid requests from an OpenAPI document.
import { pythonWithPackages } from './python.js';

export interface Schemathesis {
  /** Runs `st` with these arguments, in a folder for its temporary files. */
  run(
    args: readonly string[],
    folder: string,
    environment?: Record<string, string>,
  ): Promise<{ code: number; output: string }>;
}

/** @throws Error if there is no suitable Python; its message says what to install */
export async function schemathesis(): Promise<Schemathesis> {
  const python = await pythonWithPackages();
  // Not the `st` script, which contains the path of the folder in which it was installed.
  return {
    run: (args, folder, environment = {}) =>
      python.run(['-c', 'from schemathesis.cli import schemathesis; schemathesis()', ...args], {
        environment,
        folder,
      }),
  };
}
