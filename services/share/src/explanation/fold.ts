// Folds decisions into a lead: pure, and a decision that is folded already changes nothing. The deletion of a lead will
// be folded here to null: a link to a lead that is not there is unknown.
import { withLeadFields, type records } from '@lead-scoring/contracts';
import type { SharedLead } from './state.js';

export function foldLead(lead: SharedLead | null, decision: records.LeadScored, offset: number): SharedLead {
  if (lead && lead.offset >= offset) return lead;
  const { name } = withLeadFields(
    lead?.given_name ? { name: { ...lead.given_name } } : {},
    (decision.fields ?? []).filter(({ field }) => field === 'name'),
  );
  return {
    id: decision.lead_id,
    ou_id: decision.ou_id,
    given_name: name ?? null,
    first_alias: lead?.first_alias ?? decision.aliases[0]?.alias ?? null,
    score: decision.score,
    offset,
  };
}
