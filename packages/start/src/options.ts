// The options of `npm start`, and the text of its `--help`.
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

export const help = `npm start [-- options]

Starts the whole system on this machine: Kafka, the schema registry and MongoDB (unless the environment names yours),
every service, an organisation with a token, and sample data in an empty store. Ctrl-C ends it; the data stays.

  --empty   start without sample data
  --help    show this, and start nothing

Settings are environment variables, for example LEAD_SCORING_PORT=9000 npm start:

  LEAD_SCORING_PORT           the port of the API; default 8080, or any free port when that is in use
  LEAD_SCORING_RUN_DIRECTORY  the folder of data, logs and secrets; default .run in the checkout
  KAFKA_BROKERS, SCHEMA_REGISTRY_URL, MONGODB_URI
                              your own servers, in place of those that are started here
  PARTITIONS                  the largest number of processes that share a service's work; default 6, fixed by the first start
  SCORING_PROCESSES           the number of processes of scoring; likewise INGEST_, NOTIFICATION_, SHARE_ and SITE_ANALYSIS_
  LOG_LEVEL                   error, warn, info (the default), debug or trace

The services get their settings from here as well: docs/settings.md lists them all.
`;
