// The commands with which a deal sends its score to its leads: pure. Each has the whole score, so that one that comes twice changes
// nothing, and the reasons for the difference from the score that the lead was sent before.
import { records } from '@lead-scoring/contracts';
import { evolveDeal } from './evolve.js';
import type { DealEvent } from './messages.js';
import type { Deal } from './state.js';

/**
 * @param before the deal before the event; null where it was not there
 * @param version of the OU's rules that decided
 */
export function dealScoreCommands(
  before: Deal | null,
  event: DealEvent,
  version: number,
): records.RecordDealScore[] {
  if (event.type === 'DealScored') {
    const after = evolveDeal(before, event);
    return after ? after.leads.flatMap((lead) => changeFor(lead, event.payload, after)) : [];
  }
  // A lead that has the same id later starts without the deal.
  if (!before || before.score === 0) return [];
  const { ou_id, deal_key, lead_id, removed_at } = event.payload;
  return [
    {
      ou_id,
      lead_id,
      deal_key,
      deal_id: before.id,
      previous_score: before.score,
      score: null,
      configuration_version: version,
      decided_at: removed_at,
      fire_triggers: false,
    },
  ];
}

/** Nothing for a lead whose deal score stays. */
function changeFor(leadId: string, decision: records.DealScored, after: Deal): records.RecordDealScore[] {
  const { ou_id, deal_key, deal_id, score, configuration_version, decided_at, fire_triggers } = decision;
  const isNew = leadId === decision.lead_id;
  const previous_score = isNew ? 0 : decision.previous_score;
  if (score === previous_score) return [];
  const adjustments = isNew ? reasonsOf(after) : (decision.adjustments ?? []);
  const isTold = adjustments.length > 0 && adjustments.length <= records.maximumToldAdjustments;
  return [
    {
      ou_id,
      lead_id: leadId,
      deal_key,
      deal_id,
      previous_score,
      score,
      configuration_version,
      ...(isTold && { adjustments }),
      decided_at,
      fire_triggers,
    },
  ];
}

/** All that makes the score of a deal. */
function reasonsOf({ given, held }: Deal): records.DealAdjustment[] {
  return [
    ...given.map(({ rule_id, rule_version, ruleset_id, points }) => ({
      reason: 'deal_rule' as const,
      points,
      rule_id,
      rule_version,
      ruleset_id,
    })),
    ...held.map(({ ruleset_id, points }) => ({ reason: 'held_by_ruleset' as const, points, ruleset_id })),
  ];
}
