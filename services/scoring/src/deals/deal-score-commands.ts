// The commands with which a deal sends its score to its leads: pure. Each has the whole score, so that one that comes twice changes
// nothing, and the reasons for the difference from the score that the lead was sent before.
import { records } from '@lead-scoring/contracts';
import {
  heldChangesIn,
  pointChangesIn,
  withHeldChanges,
  withPointChanges,
} from '@lead-scoring/scoring-domain';
import { evolveDeal } from './evolve.js';
import type { DealEvent } from './messages.js';
import type { Deal } from './state.js';

/**
 * The commands of the events of a decision.
 * @param before the deal before them; null where it was not there
 * @param version of the OU's rules that decided
 */
export function commandsOfDecision(
  before: Deal | null,
  events: readonly DealEvent[],
  version: number,
): records.RecordDealScore[] {
  let deal = before;
  return events.flatMap((event) => {
    const commands = dealScoreCommands(deal, event, version);
    deal = evolveDeal(deal, event);
    return commands;
  });
}

/** @param before the deal before the event */
function dealScoreCommands(
  before: Deal | null,
  event: DealEvent,
  version: number,
): records.RecordDealScore[] {
  if (event.type === 'DealScored') {
    const after = evolveDeal(before, event);
    return after ? after.leads.flatMap((lead) => changeFor(lead, event.payload, before, after)) : [];
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

/** Nothing for a lead that was sent this score. */
function changeFor(
  leadId: string,
  decision: records.DealScored,
  before: Deal | null,
  after: Deal,
): records.RecordDealScore[] {
  const { ou_id, deal_key, deal_id, score, configuration_version, decided_at, fire_triggers } = decision;
  const isFirst = decision.score_sent === true || leadId === decision.lead_id;
  const previous_score = isFirst ? 0 : decision.previous_score;
  if (score === previous_score) return [];
  const adjustments = reasonsFor(previous_score, decision, before, after);
  const isWhole = adjustments.length === 0 || adjustments.length > records.maximumSentAdjustments;
  return [
    {
      ou_id,
      lead_id: leadId,
      deal_key,
      deal_id,
      previous_score,
      score,
      configuration_version,
      ...(!isWhole && { adjustments }),
      decided_at,
      fire_triggers,
    },
  ];
}

/**
 * The reasons of a change; none where the deal has to count as a whole. A lead keeps no reasons of a deal with a score of 0, so the
 * next change from 0 has all reasons of the score.
 */
function reasonsFor(
  previousScore: number,
  { score, adjustments = [] }: records.DealScored,
  before: Deal | null,
  after: Deal,
): records.DealAdjustment[] {
  const { given, held, unsent = [] } = after;
  if (previousScore === 0)
    return unsent.length > records.maximumSentAdjustments ? [] : reasonsOf(sentPointsOf(after));
  // The points of the remaining rules and limits add up to 0: as a whole, they leave the lead no reasons.
  if (score === 0 && given.length + held.length > 0) return [];
  return [...(before?.unsent ?? []), ...adjustments];
}

/** The points of a deal without the changes that its leads were not sent. */
export function sentPointsOf({ given, held, unsent = [] }: Deal): Pick<Deal, 'given' | 'held'> {
  const taken = unsent.map((one) => ({ ...one, points: -one.points }));
  return {
    given: withPointChanges(given, pointChangesIn(taken)),
    held: withHeldChanges(held, heldChangesIn(taken)),
  };
}

function reasonsOf({ given, held }: Pick<Deal, 'given' | 'held'>): records.DealAdjustment[] {
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
