// The declaration of `lead-scoring usage`.
import type { Command } from 'commander';
import type { CommandContext } from './command-context.js';
import { usage } from './usage-command.js';

/** `usage`: API calls, events and notifications. */
export function declareUsage(program: Command, { command, output }: CommandContext): void {
  program
    .command('usage')
    .description(
      'API calls and events by credential, and notifications, of the last 30 days; needs an admin.',
    )
    .option('--from <time>', 'a day or moment in UTC')
    .option('--to <time>', 'a day or moment in UTC; default now')
    .option('--by <period>', 'day or hour: the sums of each, in place of those of each credential')
    .action(command((flags, settings) => usage(flags, settings, output)));
}
