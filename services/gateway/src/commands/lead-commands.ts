// Commands about one lead: its deletion, its metadata, the reset of its score, and the links that show it.
import {
  leadIdOf,
  normaliseAlias,
  records,
  shareFieldsOf,
  shareUrlOf,
  type Alias,
} from '@lead-scoring/contracts';
import { deriveShareToken } from '../credentials/derived-secrets.js';
import { command, inUnit, ouOf, type CommandBuilders } from './command-building.js';

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

  patchLeadMetadata: (input) => {
    const leadId = input.parameters.leadID.toLowerCase();
    return command(records.patchLeadMetadata, leadId, {
      ...inUnit(input),
      lead_id: leadId,
      patch_id: input.commandId,
      patch: input.body,
    });
  },

  mergeLeads: (input) => {
    const { target_id, source_ids } = input.body;
    return command(records.startLeadMerge, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      change: 'merge',
      target_id: target_id.toLowerCase(),
      source_ids: source_ids.map((leadId) => leadId.toLowerCase()),
    });
  },

  unmergeLead: (input) =>
    command(records.startLeadMerge, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      change: 'unmerge',
      target_id: input.parameters.leadID.toLowerCase(),
      source_ids: [input.body.source_id.toLowerCase()],
    }),

  addLeadAlias: (input) =>
    command(records.startLeadMerge, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      change: 'merge',
      target_id: input.parameters.leadID.toLowerCase(),
      ...aliasIn(ouOf(input), input.body),
    }),

  removeLeadAlias: (input) =>
    command(records.startLeadMerge, ouOf(input), {
      ...inUnit(input),
      job_id: input.commandId,
      change: 'unmerge',
      target_id: input.parameters.leadID.toLowerCase(),
      ...aliasIn(ouOf(input), input.query),
    }),

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

/** The alias as it is kept, and the lead that it names by itself. */
function aliasIn(ouId: string, { alias_kind, alias: text }: Alias): { source_ids: string[]; alias: Alias } {
  const normalised = normaliseAlias(alias_kind, text);
  if ('problem' in normalised) throw new Error('the form of the request lets no such alias pass');
  const { alias } = normalised;
  return { source_ids: [leadIdOf(ouId, alias_kind, alias)], alias: { alias_kind, alias } };
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
