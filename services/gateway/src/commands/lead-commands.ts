// Commands about one lead: its deletion, the reset of its score, and the links that show it.
import { records, shareFieldsOf, shareUrlOf } from '@lead-scoring/contracts';
import { deriveShareToken } from '../credentials/derived-secrets.js';
import { command, inUnit, type CommandBuilders } from './command-building.js';

export const leadCommands = {
  deleteLead: (input) => {
    const leadId = input.parameters.leadID.toLowerCase();
    return command(records.deleteLead, leadId, {
      ...inUnit(input),
      lead_id: leadId,
      deletion_id: input.commandId,
      requested_by: input.credentialId,
    });
  },

  resetScores: (input) => {
    const leadId = input.parameters.leadID.toLowerCase();
    const { reason } = input.body;
    return command(records.resetScores, leadId, {
      ...inUnit(input),
      lead_id: leadId,
      reset_id: input.commandId,
      ...(reason !== undefined && { reason_text: reason }),
    });
  },

  createShare: (input) => {
    const token = deriveShareToken(input.commandId, input.tokenSecret);
    const fields = shareFieldsOf(token);
    const built = command(records.createShare, fields.share_id, {
      ...inUnit(input),
      ...fields,
      lead_id: input.parameters.id.toLowerCase(),
      created_by: input.credentialId,
      ...(input.query.score_type !== 'engagement' && { score_type: input.query.score_type }),
    });
    return { ...built, shown: () => ({ token, share_url: shareUrlOf(input.appUrl, token) }) };
  },

  revokeShare: (input) => {
    const { token } = input.parameters;
    const shareId = uuidForm.test(token) ? token.toLowerCase() : shareFieldsOf(token).share_id;
    return command(records.revokeShare, shareId, {
      ...inUnit(input),
      share_id: shareId,
      requested_by: input.credentialId,
    });
  },
} satisfies Partial<CommandBuilders>;

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
