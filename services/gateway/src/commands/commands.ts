// The table of contents of the commands: for each route of kind `command`, the record that it becomes.
import { records } from '@lead-scoring/contracts';
import { channelCommands } from './channel-commands.js';
import { command, inUnit, ouOf, type CommandBuilders } from './command-building.js';
import { eventTypeCommands } from './event-type-commands.js';
import { identityCommands } from './identity-commands.js';
import { jobCommands } from './job-commands.js';
import { leadCommands } from './lead-commands.js';
import { leadImportCommands } from './lead-import-commands.js';
import { ruleCommands } from './rule-commands.js';
import { scoringCommands } from './scoring-commands.js';
import { triggerCommands } from './trigger-commands.js';

export const commandBuilders: CommandBuilders = {
  ...scoringCommands,
  ...ruleCommands,
  ...leadCommands,
  ...leadImportCommands,
  ...eventTypeCommands,
  ...channelCommands,
  ...triggerCommands,
  ...identityCommands,
  ...jobCommands,

  analyzeSite: (input) =>
    command(records.analyzeSite, ouOf(input), {
      ...inUnit(input),
      analysis_id: input.commandId,
      url: input.body.url,
    }),
};
