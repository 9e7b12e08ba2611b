// The declarations of the commands that start long work and wait for it, and of the list of jobs.
import { levelledScoreTypes } from '@lead-scoring/contracts';
import { Option, type Command } from 'commander';
import { backfillAccounts, backfillEventTypes, backfillLevels } from './backfill-command.js';
import {
  applyChallenger,
  endChallenger,
  listChallengers,
  showChallenger,
  startChallenger,
} from './challenger-commands.js';
import type { CommandContext } from './command-context.js';
import { jobs } from './jobs-command.js';
import { rescore } from './rescore-command.js';
import { suggest } from './suggest-command.js';
import { applyWhatIf, whatIf } from './what-if-commands.js';

/** `jobs`, `rescore`, `backfill`, `what-if`, `challenger` and `suggest`: long work. */
export function declareJobs(program: Command, context: CommandContext): void {
  const { command, output } = context;
  program
    .command('jobs')
    .description('Jobs with their progress, newest first.')
    .option('--status <status>', 'running, completed, failed or cancelled')
    .option('--limit <count>', '1 to 100 (default 25)')
    .option('--page <number>')
    .action(command((flags, settings) => jobs(flags, settings, output)));

  program
    .command('rescore <what>')
    .description(
      'Compute scores anew from the recorded history by the rules of now: scores, profiles, or a ruleset by its name or id. Waits for the job, with its progress.',
    )
    .option('--dry-run', 'only say which leads would rise and fall')
    .option('--fire-triggers', 'let triggers fire on the leads whose scores change')
    .action(command((flags, settings, [what = '']) => rescore(what, flags, settings, output)));

  declareBackfills(program, context);

  program
    .command('suggest')
    .description(
      'Learn from the recorded history which rules go with an outcome. Waits for the job, with its progress, and changes nothing.',
    )
    .option('--outcome <type>', 'the type of event that a good lead comes to, such as "Deal Won"; required')
    .addOption(
      new Option(
        '--dimension <dimension>',
        'the score whose rules are suggested (default: engagement)',
      ).choices(levelledScoreTypes),
    )
    .option('--out <file>', 'write the changes to this new file, which what-if takes as it is')
    .action(command((flags, settings) => suggest(flags, settings, output)));

  declareWhatIf(program, context);
  declareChallengers(program, context);
}

/** `backfill accounts`, `levels` and `event-types`. */
function declareBackfills(program: Command, { command, output }: CommandContext): void {
  const backfill = program
    .command('backfill')
    .description('Derive from the recorded history what it would give by the configuration of now.');
  backfill
    .command('accounts')
    .description(
      'Count all leads in their accounts, and score the accounts by the rules of now. Waits for the job, with its progress.',
    )
    .option('--dry-run', 'only say how many leads would come to an account')
    .option('--fire-triggers', 'let triggers by account score fire')
    .action(command((flags, settings) => backfillAccounts(flags, settings, output)));
  backfill
    .command('levels')
    .description(
      'Tell consumers of the log the level of every lead, after levels were set or changed. Waits for the job, with its progress.',
    )
    .option('--dry-run', 'only say how many leads would be told of')
    .action(command((flags, settings) => backfillLevels(flags, settings, output)));
  backfill
    .command('event-types')
    .description(
      'Count the event types anew from the recorded events: their list, counts and properties. Waits for the job, with its progress.',
    )
    .option('--dry-run', 'only say which types differ')
    .action(command((flags, settings) => backfillEventTypes(flags, settings, output)));
}

/** `what-if` with a file, and `what-if apply`. A file of the name apply is given as ./apply. */
function declareWhatIf(program: Command, { command, output, stdin }: CommandContext): void {
  const tried = program
    .command('what-if <file>')
    .description(
      'Try a draft of changed rules on the recorded history. The file, or - for standard input, has the body of POST /scoring/what-if as YAML or JSON. Waits for the job, with its progress, and changes nothing.',
    )
    .action(command((flags, settings, [file = '']) => whatIf(file, flags, { settings, output, stdin })));
  tried
    .command('apply <job>')
    .description(
      'Make the draft of a what-if live, as one change; refused when the rules have changed since.',
    )
    .action(command((flags, settings, [job = '']) => applyWhatIf(job, flags, settings, output)));
}

/** `challenger start`, `list`, `show`, `apply` and `end`. */
function declareChallengers(program: Command, { command, output, stdin }: CommandContext): void {
  const challenger = program
    .command('challenger')
    .description('Drafts of changed rules that run in shadow beside the live rules, at most three.');
  challenger
    .command('start <file>')
    .description(
      'Run a draft on what comes in from now on. The file, or - for standard input, has the body of POST /scoring/challengers as YAML or JSON.',
    )
    .option('--name <name>', 'its name, where the file has none, as files for what-if')
    .action(
      command((flags, settings, [file = '']) => startChallenger(file, flags, { settings, output, stdin })),
    );
  challenger
    .command('list')
    .description('Challengers, oldest first.')
    .action(command((flags, settings) => listChallengers(flags, settings, output)));
  challenger
    .command('show <id>')
    .description('What has come in since its start, by the live rules and by the draft.')
    .action(command((flags, settings, [id = '']) => showChallenger(id, flags, settings, output)));
  challenger
    .command('apply <id>')
    .description(
      'Make the draft live, as one change, and end the challenger; refused when the rules have changed since.',
    )
    .option('--dry-run', 'only say what would change')
    .action(command((flags, settings, [id = '']) => applyChallenger(id, flags, settings, output)));
  challenger
    .command('end <id>')
    .description('End a challenger, and delete its figures.')
    .action(command((_flags, settings, [id = '']) => endChallenger(id, settings, output)));
}
