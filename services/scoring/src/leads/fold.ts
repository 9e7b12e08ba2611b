// Folds decisions into a lead: pure. A decision that was folded before changes nothing.
import { fieldsAfter, type records } from '@lead-scoring/contracts';
import { withAliases, withDecision } from '@lead-scoring/scoring-domain';
import { decayAfterScored, lastScoredAt } from '../decays/decay-fold.js';
import { dueEntryAfter } from '../decays/due-entry-model.js';
import { withValues } from '../profile/state.js';
import { withLimitUses } from '../scores/use-model.js';
import type { Lead } from './state.js';

export function foldLead(lead: Lead | null, decision: records.LeadScored, offset: number): Lead {
  if (lead && lead.offset >= offset) return lead;
  const profile = withValues(lead?.profile, decision);
  const deals = withDeals(lead?.deals, decision.deals);
  const limit_uses = withLimitUses(lead?.limit_uses, decision.limit_uses);
  const last_scored_at = lastScoredAt(lead?.last_scored_at, decision);
  const decay = decayAfterScored(lead?.decay, decision);
  const { decided_at } = decision;
  const due_entry = dueEntryAfter(lead?.due_entry, decay?.due_at, { decided_at, offset });
  return {
    id: decision.lead_id,
    ou_id: decision.ou_id,
    aliases: withAliases(lead?.aliases ?? [], decision.aliases),
    ...fieldsAfter(lead, decision),
    score: decision.score,
    rulesets: withDecision(lead?.rulesets ?? [], decision),
    ...(limit_uses && { limit_uses }),
    ...(lead?.resets && { resets: lead.resets }),
    event_count: (lead?.event_count ?? 0) + decision.event_count,
    first_activity_at:
      lead && lead.first_activity_at < decision.first_activity_at
        ? lead.first_activity_at
        : decision.first_activity_at,
    last_activity_at:
      lead && lead.last_activity_at > decision.last_activity_at
        ? lead.last_activity_at
        : decision.last_activity_at,
    ...(last_scored_at !== undefined && { last_scored_at }),
    ...(decay && { decay }),
    ...(due_entry && { due_entry }),
    first_offset: lead?.first_offset ?? offset,
    offset,
    ...(profile && { profile }),
    ...(deals && { deals }),
    ...(lead?.deal_scores && { deal_scores: lead.deal_scores }),
    ...(lead?.whole_deals && { whole_deals: lead.whole_deals }),
    ...(lead?.account && { account: lead.account }),
  };
}

function withDeals(known: Lead['deals'], named: Lead['deals']): Lead['deals'] {
  return named ? [...(known ?? []), ...named] : known;
}
