// The declarations of `lead-scoring members` and its subcommands, and of `lead-scoring audit`.
import type { Command } from 'commander';
import { listChanges } from './audit-command.js';
import type { CommandContext } from './command-context.js';
import { inviteMember, listMembers, newLink, removeMember, roleNamed, setRole } from './members-command.js';

/** `members`: list, invite, role, link and remove. */
export function declareMembers(program: Command, { command, output }: CommandContext): void {
  const members = program
    .command('members')
    .description(
      'The people of the organisation. A viewer reads and shares, an editor writes, an admin manages.',
    );
  members
    .command('list')
    .description('Their names, addresses and roles.')
    .action(command((flags, settings) => listMembers(flags, settings, output)));
  members
    .command('invite <email> <name> <role>')
    .description(
      'Invite a person as viewer, editor or admin, and print the link to send to them. It can be used once.',
    )
    .option(
      '--units <ids>',
      'ids of the organizational units in which the role counts, with commas; default all',
    )
    .action(
      command((flags, settings, [email = '', name = '', role = '']) =>
        inviteMember({ email, name, role: roleNamed(role) }, flags, settings, output),
      ),
    );
  members
    .command('role <member> <role>')
    .description('Give a member, named by address or id, another role.')
    .action(
      command((_, settings, [member = '', role = '']) => setRole(member, roleNamed(role), settings, output)),
    );
  members
    .command('link <member>')
    .description('Print a new link for a member who has no valid token; an earlier link ends.')
    .action(command((_, settings, [member = '']) => newLink(member, settings, output)));
  members
    .command('remove <member>')
    .description('Remove a member, named by address or id. Their tokens end at once.')
    .option('--yes', 'confirm; without it the command only says who would be removed')
    .action(command((flags, settings, [member = '']) => removeMember(member, flags, settings, output)));
}

/** `audit`: who changed what. */
export function declareAudit(program: Command, { command, output }: CommandContext): void {
  program
    .command('audit')
    .description(
      'Who changed what, from where, and what it was before and after: the newest changes; needs an admin.',
    )
    .option('--from <time>', 'only changes from this time or day on')
    .option('--to <time>', 'only changes before it')
    .option('--actor <id>', 'only those of a credential, or of a member by all their tokens')
    .option('--kind <kind>', 'only of a kind of thing, such as rule, channel or member')
    .option('--q <text>', 'only of things with this in their name or id')
    .option('--limit <number>', '1 to 100; default 25')
    .option('--csv', 'all of them as CSV, also more than a hundred')
    .action(command((flags, settings) => listChanges(flags, settings, output)));
}
