// The command line in the process of a test, against the running system.
import { Readable } from 'node:stream';
import { run } from '@lead-scoring/cli';
import type { TestSystem } from './test-system.js';

export interface CommandOptions {
  stdin?: string;
  /** The organizational unit. Default: that of the system. */
  unit?: string;
  /** Default: the administrator's. */
  token?: string;
  /** Where the command runs. */
  directory: string;
}

export interface CommandResult {
  exitCode: number;
  /** Standard output. */
  written: string;
  /** Standard error. */
  noted: string;
}

/** Runs `lead-scoring` with these words. */
export async function runCommand(
  system: TestSystem,
  words: readonly string[],
  { stdin = '', unit = system.ouId, token = system.token, directory }: CommandOptions,
): Promise<CommandResult> {
  let written = '';
  let noted = '';
  const exitCode = await run(words, {
    environment: { LEAD_SCORING_URL: system.url, LEAD_SCORING_TOKEN: token, LEAD_SCORING_OU: unit },
    directory,
    stdin: Readable.from([Buffer.from(stdin)]),
    output: { write: (text) => (written += text), note: (text) => (noted += text), terminal: null },
  });
  return { exitCode, written, noted };
}
