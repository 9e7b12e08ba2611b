// The commands that send events and write them to files, with their flags.
import { Option, type Command } from 'commander';
import type { CommandContext } from './command-context.js';
import { exportEvents } from './export-command.js';
import { ingest } from './ingest-command.js';
import { mappingHelp } from './mapping-flags.js';

/** `ingest`: sends events from a file. */
export function declareIngest(program: Command, { command, output, stdin }: CommandContext): void {
  program
    .command('ingest <file>')
    .description('Send events from a file, or - for standard input: JSON, NDJSON, or CSV with a mapping.')
    .addOption(
      new Option('--format <format>', 'default: by the file’s extension, else by its first line').choices([
        'json',
        'ndjson',
        'csv',
      ]),
    )
    .option('--mapping <file>', 'CSV: a JSON file with the meaning of the columns')
    .option('--alias-column <name>', 'CSV: the column with the alias of the lead')
    .option('--alias-kind <kind>', 'CSV: the kind of that alias (default email)')
    .option('--event-type <name>', 'CSV: the type of all events')
    .option('--event-type-column <name>', 'CSV: the column with the event type')
    .option('--timestamp-column <name>', 'CSV: the column with the time, ISO 8601 with Z or an offset')
    .addOption(
      new Option(
        '--empty-timestamp <what>',
        'CSV: a row with an empty time gives no event (refuse, the default) or events with the time of sending (now)',
      ).choices(['refuse', 'now']),
    )
    .option('--event-id-column <name>', 'CSV: the column with an id; the same id counts once')
    .option('--repeat-column <name>', 'CSV: the column with the number of events that a row gives')
    .option(
      '--metadata-columns <names>',
      'CSV: the columns that become metadata, with commas; default: all others',
    )
    .option('--text-columns <names>', 'CSV: columns whose numbers stay text, with commas, or all')
    .option(
      '--init-mapping [new-file]',
      'CSV: propose a mapping from the header and the values, and send nothing; to standard output or a new file',
    )
    .option(
      '--history',
      'one upload to POST /import, of any size: events of any age, no trigger fires; the same file again counts once',
    )
    .option('--batch <events>', 'events a request, at most 5000 (default 1000)')
    .option('--concurrency <requests>', 'requests at a time (default 2)')
    .option(
      '--run <name>',
      'a name for this run: within 24 hours, the same file under the same name counts once',
    )
    .option('--dry-run', 'write the events as NDJSON in place of sending them')
    .addHelpText('after', mappingHelp)
    .action(command((flags, settings, [file = '']) => ingest(file, flags, settings, output, stdin)));
}

/** `export`: writes events to a file. */
export function declareExport(program: Command, { command, output }: CommandContext): void {
  program
    .command('export [file]')
    .description(
      'Write events, newest first, to a new file, or to standard output. A connection that breaks is opened again where it broke.',
    )
    .addOption(new Option('--as <format>', 'default csv').choices(['csv', 'ndjson']))
    .option('--columns <fields>', 'CSV: metadata fields as columns: metadata.path,metadata.amount')
    .option('--type <name>', 'events of this type')
    .option('--from <time>', 'events from this time on, such as 2026-01-31 or 2026-01-31T09:30:00Z')
    .option('--to <time>', 'events before this time')
    .option('--lead <lead>', 'events of this lead, named as for explain')
    .option('--alias <alias>', 'events that came under this alias')
    .option('--resume', 'go on after the last whole line of the file; give the same flags as before')
    .action(command((flags, settings, [file = '-']) => exportEvents(file, flags, settings, output)));
}
