// Folds decisions into a lead, and says which are stored: pure, and a decision that is folded already changes nothing.
import { withLeadFields, type LeadFieldName, type LeadFields, type records } from '@lead-scoring/contracts';
import type { SharedLead } from './state.js';

/**
 * Returns the lead as it was given when the decision changes nothing that is kept of it: there is nothing to store.
 * @param keptFields beside the name
 */
export function foldLead(
  lead: SharedLead | null,
  decision: records.LeadScored,
  offset: number,
  keptFields: readonly LeadFieldName[],
): SharedLead {
  if (lead && lead.offset >= offset) return lead;
  const given_name = withName(lead?.given_name ?? null, decision.fields);
  const given = withFields(lead?.given ?? noFields, decision.fields, keptFields);
  const first_alias = lead?.first_alias ?? decision.aliases[0]?.alias ?? null;
  if (lead?.given_name === given_name && lead.given === given && lead.first_alias === first_alias)
    return lead;
  return {
    id: decision.lead_id,
    ou_id: decision.ou_id,
    given_name,
    given,
    first_alias,
    first_offset: lead?.first_offset ?? offset,
    offset,
  };
}

/**
 * Whether a decision is stored: it tells why points were given, or that the score changed by itself, or it made the lead.
 * So the last that is stored up to any offset tells the score as of there, and every lead has one.
 * @param lead with the decision folded into it
 */
export function isStored(
  { scored_events, previous_score, score }: records.LeadScored,
  { first_offset }: SharedLead,
  offset: number,
): boolean {
  return scored_events.length > 0 || previous_score !== score || first_offset === offset;
}

const noFields: LeadFields = {};

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
