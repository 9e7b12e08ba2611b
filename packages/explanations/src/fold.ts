// Folds decisions into a lead, and selects the decisions to store. Pure; a decision folded twice changes nothing.
import { withLeadFields, type LeadFieldName, type LeadFields, type records } from '@lead-scoring/contracts';
import { explainsScore, type ScoreDecision } from '@lead-scoring/scoring-domain';
import type { SharedLead } from './state.js';

/**
 * Folds a decision into a lead. Returns the same object when no stored field changes, so that nothing is written.
 * @param keptFields fields to store besides the name
 */
export function foldLead(
  lead: SharedLead | null,
  decision: ScoreDecision,
  offset: number,
  keptFields: readonly LeadFieldName[],
): SharedLead {
  if (lead && lead.offset >= offset) return lead;
  const { fields, aliases, overrides = lead?.overrides } = 'aliases' in decision ? decision : nothingNamed;
  const given_name = withName(lead?.given_name ?? null, fields);
  const given = withFields(lead?.given ?? noFields, fields, keptFields);
  const first_alias = lead?.first_alias ?? aliases[0]?.alias ?? null;
  if (
    lead?.given_name === given_name &&
    lead.given === given &&
    lead.overrides === overrides &&
    lead.first_alias === first_alias
  )
    return lead;
  return {
    id: decision.lead_id,
    ou_id: decision.ou_id,
    given_name,
    given,
    ...(overrides && { overrides }),
    first_alias,
    ...(lead?.account_id !== undefined && { account_id: lead.account_id }),
    first_offset: lead?.first_offset ?? offset,
    offset,
  };
}

/** Folds the account that a lead belongs to from now on. Returns the same object when it is the same account. */
export function foldContributed(
  lead: SharedLead | null,
  { account_id }: records.LeadContributed,
  offset: number,
): SharedLead | null {
  if (!lead || lead.offset >= offset || lead.account_id === account_id) return lead;
  return { ...lead, account_id, offset };
}

/**
 * Whether a decision is stored: it explains a score, or made the lead. So the last stored decision on a score before any offset
 * holds the score as of that offset, and every lead has a stored decision.
 * @param lead with the decision folded into it
 */
export function isStored(decision: ScoreDecision, { first_offset }: SharedLead, offset: number): boolean {
  return explainsScore(decision) || first_offset === offset;
}

const noFields: LeadFields = {};
/** A decision that no event caused says nothing of the lead's names. */
const nothingNamed: Pick<records.LeadScored, 'aliases' | 'fields' | 'overrides'> = { aliases: [] };

function withFields(
  known: LeadFields,
  fields: records.LeadScored['fields'],
  kept: readonly LeadFieldName[],
): LeadFields {
  if (!fields || kept.length === 0) return known;
  return withLeadFields(
    known,
    fields.filter(({ field }) => kept.includes(field)),
  );
}

function withName(
  known: SharedLead['given_name'],
  fields: records.LeadScored['fields'],
): SharedLead['given_name'] {
  const names = fields?.filter(({ field }) => field === 'name') ?? [];
  if (names.length === 0) return known;
  const before: LeadFields = known ? { name: known } : {};
  const after = withLeadFields(before, names);
  return after === before ? known : (after.name ?? null);
}
