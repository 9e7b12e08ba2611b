// The command that starts an import of leads.
import { records } from '@lead-scoring/contracts';
import { command, inUnit, type CommandBuilders } from './command-building.js';

export const leadImportCommands = {
  startLeadImport: (input) => {
    const { file_id, ...mapping } = input.body;
    const job_id = input.commandId;
    return command(records.startLeadImport, job_id, {
      ...inUnit(input),
      job_id,
      file_id: file_id.toLowerCase(),
      mapping,
    });
  },
} satisfies Partial<CommandBuilders>;
