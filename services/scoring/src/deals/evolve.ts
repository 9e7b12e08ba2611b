// Folds the decisions on a deal: pure.
import type { records } from '@lead-scoring/contracts';
import { withHeldChanges } from '@lead-scoring/scoring-domain';
import { withPointChanges, type GivenPoints } from '../condition-rules/points-model.js';
import type { DealEvent } from './messages.js';
import type { Deal } from './state.js';

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
  deal: Deal,
  { lead_id, changes = [], adjustments = [], score, decided_at }: records.DealScored,
): Deal {
  return {
    ...deal,
    fields: withDealChanges(deal.fields, changes),
    leads: lead_id === undefined ? deal.leads : [...deal.leads, lead_id],
    given: withPointChanges(deal.given, adjustments.flatMap(ruleChange)),
    held: withHeldChanges(
      deal.held,
      adjustments.filter(({ reason }) => reason === 'held_by_ruleset'),
    ),
    score,
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

function ruleChange({ rule_id, rule_version, ruleset_id, points }: records.DealAdjustment): GivenPoints[] {
  return rule_id === undefined || rule_version === undefined
    ? []
    : [{ rule_id, rule_version, ruleset_id, points }];
}
