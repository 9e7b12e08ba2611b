// The commands with their arguments and flags, and the function that runs them.
import type { Readable } from 'node:stream';
import { Command } from 'commander';
import { acls } from './acls-command.js';
import { backup, restore } from './backup-command.js';
import { doctor } from './doctor-command.js';
import { exitCodes, failureOf, withOrgUnitSource } from './errors.js';
import type { Action, CommandContext, Flags } from './command-context.js';
import { erase } from './erase-command.js';
import { declareExport, declareIngest } from './event-commands.js';
import { history } from './history-command.js';
import { declareJobs } from './job-commands.js';
import { importLeads } from './lead-import-command.js';
import { deleteLead, explain, leads, resetScore } from './leads-commands.js';
import { discardLetters, retryLetters, showDeadLetter, showDeadLetters } from './dead-letters-commands.js';
import { serviceNamed, tail } from './log-commands.js';
import { declareAudit, declareMembers } from './member-commands.js';
import { declareUsage } from './usage-commands.js';
import type { Output } from './output.js';
import { acceptPositionsOf, showPositions } from './positions-commands.js';
import { rebuild } from './rebuild-command.js';
import { resealSecrets, showSecrets } from './secrets-commands.js';
import { settingsOf } from './settings.js';
import { applyRules, diffRules, exportRules } from './rules-commands.js';
import { listVersions, restoreVersion } from './versions-commands.js';
import { endUnit, listUnits, renameUnit } from './units-commands.js';

export interface Surroundings {
  environment: NodeJS.ProcessEnv;
  directory: string;
  /** The checkout that the program belongs to, whose `.run/start.json` is read when no other is found. */
  checkout?: string;
  stdin: Readable;
  output: Output;
}

/**
 * Runs one command line.
 * @param words the arguments, without node and the script
 * @returns the exit code; error messages have been printed
 */
export async function run(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { output } = surroundings;
  let exitCode: number = exitCodes.done;
  const program = programOf(surroundings, (code) => (exitCode = code));
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.message !== null) output.note(`${failure.message}\n`);
    return failure.exitCode;
  }
}

function programOf(surroundings: Surroundings, exit: (code: number) => void): Command {
  const { environment, directory, checkout, stdin, output } = surroundings;
  const program = new Command('lead-scoring')
    .description('Send events, look at scores and their reasons, and operate the services.')
    .option('--url <url>', 'the API; default LEAD_SCORING_URL, then .run/start.json')
    .option('--token <token>', 'the credential; default LEAD_SCORING_TOKEN, then .run/start.json')
    .option('--ou <id>', 'the organizational unit; default LEAD_SCORING_OU, then .run/start.json')
    .option('--json', 'write JSON for programs in place of tables')
    .showHelpAfterError('(lead-scoring --help lists commands and flags)')
    .exitOverride()
    .configureOutput({ writeOut: (text) => output.write(text), writeErr: (text) => output.note(text) });

  const command =
    (action: Action) =>
    async (...given: unknown[]): Promise<void> => {
      const self = given.at(-1) as Command;
      const flags = self.optsWithGlobals<Flags>();
      const words = given.slice(0, -2).flat() as string[];
      const settings = settingsOf(flags, environment, { directory, checkout });
      exit(
        await action(flags, settings, words).catch((error: unknown) => {
          throw withOrgUnitSource(error, settings);
        }),
      );
    };

  const context: CommandContext = { command, output, stdin };
  declareIngest(program, context);
  declareExport(program, context);
  declareLeadImport(program, context);
  declareLeads(program, context);
  declareJobs(program, context);
  declareRules(program, context);
  declareMembers(program, context);
  declareAudit(program, context);
  declareUnits(program, context);
  declareUsage(program, context);
  declareLog(program, context);
  declareErase(program, context);
  declareBackup(program, context);
  declareDeadLetters(program, context);
  declarePositions(program, context);
  declareSecrets(program, context);
  declareOperations(program, context);
  return program;
}

/** `leads`, `explain`, `history`, `reset` and `delete`: leads and their scores. */
function declareLeads(program: Command, { command, output }: CommandContext): void {
  program
    .command('leads')
    .description('Leads with their scores, highest first.')
    .option('--score-type <type>', 'engagement (default), profile, deal or account')
    .option('--min-score <points>')
    .option('--max-score <points>')
    .option('--level <level>', 'a level of that score by its name or id')
    .option('--grid <cell>', 'a cell of the grid of profile by engagement: A1 to D4')
    .option('--filter <filter>', 'a saved filter by its name or id')
    .option('--search <text>', 'text within name, company or an alias')
    .option('--sort <field>', 'score, last_activity_at, created_at or name; a minus in front: descending')
    .option('--limit <count>', '1 to 100 (default 25)')
    .option('--page <number>')
    .action(command((flags, settings) => leads(flags, settings, output)));

  program
    .command('explain <lead>')
    .description('Why a lead has its score. The lead by its id, its e-mail address, or kind:alias.')
    .option('--score-type <type>', 'engagement (default), profile, deal or account')
    .option('--at <time>', 'the score at that time, by the times of the events; imported ones count')
    .option('--known-at <time>', 'what the system knew at that time, under the rules of that time')
    .option('--hours <count>', 'the hours before that time to explain (default 720)')
    .action(command((flags, settings, [lead = '']) => explain(lead, flags, settings, output)));

  program
    .command('history <lead>')
    .description(
      'The score of a lead by day or hour, as a table or a picture. The lead is named as for explain.',
    )
    .option('--by <granularity>', 'day or hour (default day)')
    .option('--from <time>', 'a day of the time zone, or a time (default 30 days or 48 hours before the end)')
    .option('--to <time>', 'the end, which does not count itself (default now)')
    .option('--timezone <name>', 'where days begin, such as Europe/Berlin (default UTC)')
    .option('--score-type <type>', 'engagement (default), profile or deal')
    .option('--known-at <time>', 'what the system knew at that time, with the levels of that time')
    .option('--svg <file>', 'write the picture to this file, in place of the table')
    .option('--width <pixels>', 'of the picture, 320 to 1600 (default 960)')
    .action(command((flags, settings, [lead = '']) => history(lead, flags, settings, output)));

  program
    .command('reset <lead>')
    .description("Restart a lead's score from zero; its history stays. The lead is named as for explain.")
    .option('--reason <text>', 'why, for those who read the log')
    .action(command((flags, settings, [lead = '']) => resetScore(lead, flags, settings, output)));

  program
    .command('delete <lead>')
    .description(
      'Delete a lead with its events, scores, aliases, share links and notifications. The lead is named as for explain; this cannot be undone.',
    )
    .action(command((_, settings, [lead = '']) => deleteLead(lead, settings, output)));
}

/** `import`: leads from a table. */
function declareLeadImport(program: Command, { command, output, stdin }: CommandContext): void {
  program
    .command('import <file>')
    .description(
      'Import a table of leads, CSV or XLSX, a lead a row; - is standard input. Shows what its columns were taken for, and asks before it starts.',
    )
    .option('--yes', 'import it without asking')
    .option('--dry-run', 'only show the table and the mapping')
    .option(
      '--map <column=meaning...>',
      'change what a column becomes: "Role=field title", "Login=primary user_id", "Code=alias code", "Signed up=event day_first Sign Up", "Notes=-"',
    )
    .option('--mapping <file>', 'take the mapping from this JSON file, in place of the proposed one')
    .option('--save-mapping <file>', 'write the mapping to this new file')
    .option('--errors <file>', 'write the rows that failed to this new file, as CSV with the reasons')
    .action(command((flags, settings, [file = '']) => importLeads(file, flags, { settings, output, stdin })));
}

/** `ou`: organizational units. */
function declareUnits(program: Command, { command, output }: CommandContext): void {
  const units = program.command('ou').description('The organizational units that the credential may use.');
  units
    .command('list')
    .description('Their names and ids, and the active one.')
    .action(command((flags, settings) => listUnits(flags, settings, output)));
  units
    .command('rename <unit> <name>')
    .description('Rename a unit, given by its name or id.')
    .action(command((_, settings, [unit = '', name = '']) => renameUnit(unit, name, settings, output)));
  units
    .command('end <unit>')
    .description(
      'End a unit, given by its name or id: it accepts no events and can no longer be read. This cannot be undone.',
    )
    .option('--yes', 'confirm; without it the command only says what would end')
    .action(command((flags, settings, [unit = '']) => endUnit(unit, flags, settings, output)));
}

/** `tail` and `rebuild`: the log, and the read models folded from it. */
function declareLog(program: Command, { command, output }: CommandContext): void {
  program
    .command('tail <topic>')
    .description('Records of a topic as they come, such as scoring.events.')
    .option('--from-beginning', 'begin with the oldest record')
    .option('--no-follow', 'stop at the current end of the topic')
    .action(command((flags, settings, [topic = '']) => tail(topic, flags, settings, output)));

  program
    .command('rebuild <service>')
    .description('Fold a service’s events into new read models, beside those that answer, and swap them.')
    .option('--timeout <seconds>', 'how long to wait (default 3600)')
    .action(
      command((flags, settings, [service = '']) => rebuild(serviceNamed(service), flags, settings, output)),
    );
}

/** `erase`: the log without what was deleted. */
function declareErase(program: Command, { command, output }: CommandContext): void {
  program
    .command('erase')
    .description(
      'Erase from the log what is about deleted leads and ended organizational units, while the services are stopped: docs/runbooks/erasure.md',
    )
    .option('--dry-run', 'only count the records; the services may run')
    .option('--dead-letters', 'also delete all dead letters, whatever they are about')
    .action(command((flags, settings) => erase(flags, settings, output)));
}

/** `backup` and `restore`: the log in a folder. */
function declareBackup(program: Command, { command, output }: CommandContext): void {
  program
    .command('backup <folder>')
    .description(
      'Copy the log and the schemas of its records into a new folder. The services are stopped while it begins: docs/runbooks/backup.md',
    )
    .option('--with-secrets <file>', 'also write the secrets, to a new file outside of the folder')
    .option('--wait <seconds>', 'how long to wait for the services to stop (default: 30)')
    .action(command((flags, settings, [folder = '']) => backup(folder, flags, settings, output)));
  program
    .command('restore <folder>')
    .description(
      'Make a log from a backup, in a namespace without records and databases. The services start afterwards: docs/runbooks/backup.md',
    )
    .action(command((flags, settings, [folder = '']) => restore(folder, flags, settings, output)));
}

/** `dead-letters`: the records that a service could not process. */
function declareDeadLetters(program: Command, { command, output }: CommandContext): void {
  const deadLetters = program
    .command('dead-letters')
    .description('Records that a service could not process.');
  deadLetters
    .command('list <service>')
    .description('List those that are not resolved, with their origin and the reason.')
    .option('--all', 'also those that were resolved or discarded')
    .action(
      command((flags, settings, [service = '']) =>
        showDeadLetters(serviceNamed(service), flags, settings, output),
      ),
    );
  deadLetters
    .command('show <service> <id>')
    .description('Show one with its headers and its payload.')
    .action(
      command((flags, settings, [service = '', id = '']) =>
        showDeadLetter(serviceNamed(service), id, flags, settings, output),
      ),
    );
  deadLetters
    .command('discard <service> <ids...>')
    .description('Mark those that nobody needs: they are not sent again, and no longer listed.')
    .action(
      command((flags, settings, [service = '', ...ids]) =>
        discardLetters(serviceNamed(service), ids, flags, settings, output),
      ),
    );
  deadLetters
    .command('retry <service> [ids...]')
    .description('Send them to their service again, each once.')
    .option('--again', 'also those that were sent again before')
    .option('--wait <seconds>', 'how long to wait for their outcomes (default: 30)')
    .action(
      command((flags, settings, [service = '', ...ids]) =>
        retryLetters(serviceNamed(service), ids, flags, settings, output),
      ),
    );
}

/** `rules`: the scoring configuration as a file. */
function declareRules(program: Command, { command, output, stdin }: CommandContext): void {
  const rules = program
    .command('rules')
    .description(
      'Rulesets, rules, levels, decay rules, mappings, the grid and saved filters as a file, to review it, keep it in Git, and apply it.',
    );
  rules
    .command('export')
    .description('Write the configuration as YAML, or with --json as JSON, to standard output.')
    .option('--of-version <number>', 'an earlier version; rules versions lists them')
    .action(command((flags, settings) => exportRules(flags, settings, output)));
  rules
    .command('diff <file>')
    .description(
      'What applying the file, or - for standard input, would change; the exit code is 1 when it would change anything.',
    )
    .action(command((flags, settings, [file = '']) => diffRules(file, flags, { settings, output, stdin })));
  rules
    .command('apply <file>')
    .description(
      'Make the configuration equal to the file: all of its changes or, when one is refused, none. A section that the file leaves out stays.',
    )
    .option('--if-version <number>', 'refuse if the configuration has another version; rules diff shows it')
    .action(command((flags, settings, [file = '']) => applyRules(file, flags, { settings, output, stdin })));
  rules
    .command('versions')
    .description(
      'The latest versions of the configuration, newest first: what was changed, when, and by whom.',
    )
    .action(command((flags, settings) => listVersions(flags, settings, output)));
  rules
    .command('restore <version>')
    .description(
      'Go back to an earlier version of the configuration, as one change. Points that were given stay.',
    )
    .option('--dry-run', 'only show what would change')
    .action(command((flags, settings, [version = '']) => restoreVersion(version, flags, settings, output)));
}

/** `positions`: how far a service has read its topics. */
function declarePositions(program: Command, { command, output }: CommandContext): void {
  const positions = program
    .command('positions')
    .description('How far a service has read its topics, and where it continues after a topic lost records.');
  positions
    .command('list <service>')
    .description('Each partition’s positions, and those that lie beyond the end of a topic.')
    .action(
      command((flags, settings, [service = '']) =>
        showPositions(serviceNamed(service), flags, settings, output),
      ),
    );
  positions
    .command('accept <service>')
    .description('Let halted partitions continue. The effect on scores: docs/runbooks/positions.md')
    .option(
      '--read-on <place>',
      'where to continue in a topic that ends before the stored position: earliest or end',
    )
    .option(
      '--output-is-whole',
      'the service’s own events, as they are now, are complete: drop the read models and fold them anew from these events',
    )
    .option('--partition <number>', 'only this partition (default: all halted ones)')
    .action(
      command((flags, settings, [service = '']) =>
        acceptPositionsOf(serviceNamed(service), flags, settings, output),
      ),
    );
}

/** `secrets`: the keys with which the secrets of notification channels are sealed. */
function declareSecrets(program: Command, { command, output }: CommandContext): void {
  const secrets = program
    .command('secrets')
    .description(
      'The keys that seal the secrets of notification channels. How to exchange keys: docs/runbooks/secrets.md',
    );
  secrets
    .command('list')
    .description('How many secrets are sealed with the current key, and how many need another.')
    .action(command((flags, settings) => showSecrets(flags, settings, output)));
  secrets
    .command('reseal')
    .description('Seal again, with the current key, the secrets that are sealed with another.')
    .action(command((flags, settings) => resealSecrets(flags, settings, output)));
}

/** `acls` and `doctor`: the rights that services need in Kafka, and the state of the whole system. */
function declareOperations(program: Command, { command, output }: CommandContext): void {
  program
    .command('acls')
    .description(
      'The rights that each service and an operator need in Kafka, for users named like the services; or, with --consumer, those of a downstream consumer.',
    )
    .option('--consumer <user>', 'a user that may read the public topics, and nothing else')
    .option('--group <prefix>', 'the prefix of the names of the consumer’s groups (default: the user)')
    .option('--user-prefix <text>', 'the prefix of the users, which are otherwise named like the services')
    .option('--create', 'grant these rights, in place of printing commands for kafka-acls.sh')
    .action(command((flags, settings) => acls(flags, settings, output)));

  program
    .command('doctor')
    .description('The state of the servers and services, the lag of each reader, and advice about problems.')
    .action(command((flags, settings) => doctor(flags, settings, output)));
}
