// Folds the decisions on a deal: pure.
import { records } from '@lead-scoring/contracts';
import {
  heldChangesIn,
  pointChangesIn,
  withHeldChanges,
  withPointChanges,
} from '@lead-scoring/scoring-domain';
import type { DealEvent } from './messages.js';
import type { Deal } from './state.js';

/** One more than the reasons that a command to a lead can have: the deal then counts as a whole. */
const maximumUnsent = records.maximumSentAdjustments + 1;

/** @param deal null before the first decision, and after a removal */
export function evolveDeal(deal: Deal | null, { type, payload }: DealEvent): Deal | null {
  switch (type) {
    case 'DealScored':
      return withDecision(deal ?? newDeal(payload), payload);
    case 'DealLeadRemoved':
      return deal && { ...deal, leads: deal.leads.filter((lead) => lead !== payload.lead_id) };
    case 'DealRemoved':
      return null;
  }
}

function newDeal({ ou_id, deal_key, deal_id, decided_at }: records.DealScored): Deal {
  return {
    ou_id,
    key: deal_key,
    id: deal_id,
    fields: {},
    leads: [],
    given: [],
    held: [],
    score: 0,
    created_at: decided_at,
    updated_at: decided_at,
  };
}

function withDecision(
  { unsent, ...deal }: Deal,
  {
    lead_id,
    changes = [],
    adjustments = [],
    previous_score,
    score,
    score_sent,
    decided_at,
  }: records.DealScored,
): Deal {
  const isSent = score !== previous_score || score === 0;
  const stillUnsent = isSent ? [] : [...(unsent ?? []), ...adjustments].slice(0, maximumUnsent);
  return {
    ...deal,
    fields: withDealChanges(deal.fields, changes),
    leads: lead_id === undefined ? deal.leads : [...deal.leads, lead_id],
    given: withPointChanges(deal.given, pointChangesIn(adjustments)),
    held: withHeldChanges(deal.held, heldChangesIn(adjustments)),
    score,
    ...(score_sent && { score_sent }),
    ...(stillUnsent.length > 0 && { unsent: stillUnsent }),
    updated_at: decided_at,
  };
}

export function withDealChanges(
  fields: Deal['fields'],
  changes: NonNullable<records.DealScored['changes']>,
): Deal['fields'] {
  const after = { ...fields };
  for (const { field, value, at } of changes) after[field] = { value, at };
  return after;
}
