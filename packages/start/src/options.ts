// The options of `npm start`, and the text of its `--help`.
import { startSettings } from './start-settings.js';
import { CommandLineError } from './terminal.js';

export interface StartOptions {
  /** Whether an empty store is filled with sample data. */
  sampleData: boolean;
  /** Whether only the help is wanted. */
  help: boolean;
}

/** @throws CommandLineError that names the unknown option */
export function readOptions(flags: readonly string[]): StartOptions {
  const known = new Set(['--empty', '--help', '-h']);
  const unknown = flags.find((flag) => !known.has(flag));
  if (unknown !== undefined)
    throw new CommandLineError(
      `Unknown option ${unknown}. The options are --empty and --help: npm start -- --help`,
    );
  return { sampleData: !flags.includes('--empty'), help: flags.some((flag) => /^(--help|-h)$/.test(flag)) };
}

const widest = Math.max(...Object.keys(startSettings).map(({ length }) => length));
const settingLines = Object.entries(startSettings)
  .map(([variable, meaning]) => `  ${variable.padEnd(widest)}  ${meaning}`)
  .join('\n');

export const help = `npm start [-- options]

Starts the whole system on this machine: Kafka, the schema registry and MongoDB (unless the environment names yours),
every service, an organisation with a token, and sample data in an empty store. Ctrl-C ends it; the data stays.

  --empty   start without sample data
  --help    show this, and start nothing

Settings are environment variables, for example LEAD_SCORING_PORT=9000 npm start:

${settingLines}

The services get their settings from here as well: docs/settings.md lists them all.
`;
