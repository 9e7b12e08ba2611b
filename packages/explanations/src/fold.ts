// Folds decisions into a lead: pure, and a decision that is folded already changes nothing.
import { withLeadFields, type LeadFields, type records } from '@lead-scoring/contracts';
import type { SharedLead } from './state.js';

/** Returns the lead as it was given when the decision changes nothing that can be shown: there is nothing to store. */
export function foldLead(lead: SharedLead | null, decision: records.LeadScored, offset: number): SharedLead {
  if (lead && lead.offset >= offset) return lead;
  const { score } = decision;
  const given_name = withName(lead?.given_name ?? null, decision.fields);
  const first_alias = lead?.first_alias ?? decision.aliases[0]?.alias ?? null;
  if (
    lead?.score === score &&
    lead.given_name === given_name &&
    lead.first_alias === first_alias &&
    decision.scored_events.length === 0
  )
    return lead;
  return {
    id: decision.lead_id,
    ou_id: decision.ou_id,
    given_name,
    first_alias,
    score,
    first_offset: lead?.first_offset ?? offset,
    offset,
  };
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
