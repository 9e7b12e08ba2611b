// The declarations of the commands that start long work and wait for it, and of the list of jobs.
import { levelledScoreTypes } from '@lead-scoring/contracts';
import { Option, type Command } from 'commander';
import { backfillAccounts } from './backfill-command.js';
import type { CommandContext } from './command-context.js';
import { jobs } from './jobs-command.js';
import { rescore } from './rescore-command.js';
import { suggest } from './suggest-command.js';
import { applyWhatIf, whatIf } from './what-if-commands.js';

/** `jobs`, `rescore`, `backfill`, `what-if` and `suggest`: long work. */
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

  program
    .command('backfill')
    .description('Derive from the recorded history what it would give by the configuration of now.')
    .command('accounts')
    .description(
      'Count all leads in their accounts, and score the accounts by the rules of now. Waits for the job, with its progress.',
    )
    .option('--dry-run', 'only say how many leads would come to an account')
    .option('--fire-triggers', 'let triggers by account score fire')
    .action(command((flags, settings) => backfillAccounts(flags, settings, output)));

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
