// Decides the deal scores of leads on the commands of their deals: pure. One decision for each lead of a batch, and none where
// nothing is new.
import { dealLimits, type records } from '@lead-scoring/contracts';
import { heldInRange } from '@lead-scoring/scoring-domain';
import { adjustedLead } from '../leads/fold-adjusted.js';
import { leadName } from '../leads/lead-batch.js';
import type { Lead } from '../leads/state.js';
import { dealScoreOf, sumOf, withDealAdjustments, type LeadDeals } from './lead-deal-score-model.js';

/** Of one record: more are divided among consecutive records. The others that a record takes keep the sum in its range. */
const maximumAdjustments = 1_000 - dealLimits.dealsOfLead;

/**
 * The decisions on the commands.
 * @param leadBefore the lead before the batch; null for a lead that does not exist
 * @param decided the leads of the batch as they are decided, by leadName: gets those that are decided here
 */
export function decideLeadDealScores(
  commands: readonly records.RecordDealScore[],
  leadBefore: (ouId: string, leadId: string) => Lead | null,
  decided = new Map<string, Lead>(),
): records.ScoreAdjusted[] {
  const byLead = new Map<string, records.RecordDealScore[]>();
  for (const command of commands) {
    const name = leadName(command.ou_id, command.lead_id);
    const known = byLead.get(name);
    if (known) known.push(command);
    else byLead.set(name, [command]);
  }
  return [...byLead].flatMap(([name, ofLead]) => {
    const [first] = ofLead;
    const before = decided.get(name) ?? (first ? leadBefore(first.ou_id, first.lead_id) : null);
    // The lead was deleted meanwhile.
    if (!before) return [];
    const { lead, events } = decideLead(before, ofLead);
    if (events.length > 0) decided.set(name, lead);
    return events;
  });
}

/** The decisions on one lead: more than one only for very many reasons, or where not all of them fire triggers. */
function decideLead(
  before: Lead,
  commands: readonly records.RecordDealScore[],
): { lead: Lead; events: records.ScoreAdjusted[] } {
  let lead = before;
  const events = partsOf(before, commands).map(({ last, adjustments }) => {
    const event = decisionOf(lead, last, adjustments);
    lead = adjustedLead(lead, event);
    return event;
  });
  return { lead, events };
}

/** What one record holds. */
interface DecisionPart {
  /** The last of its commands. */
  last: records.RecordDealScore;
  readonly adjustments: records.ScoreAdjustment[];
}

function partsOf(lead: Lead, commands: readonly records.RecordDealScore[]): DecisionPart[] {
  const parts: DecisionPart[] = [];
  let known: LeadDeals = lead;
  for (const command of commands) {
    const adjustments = adjustmentsOf(lead, known, command);
    if (adjustments.length === 0) continue;
    known = withDealAdjustments(known, { ou_id: command.ou_id, adjustments });
    const open = parts.at(-1);
    if (
      open?.last.fire_triggers === command.fire_triggers &&
      open.adjustments.length + adjustments.length <= maximumAdjustments
    ) {
      open.last = command;
      open.adjustments.push(...adjustments);
    } else parts.push({ last: command, adjustments });
  }
  return parts;
}

/** The changes of what a deal gives the lead. Empty if the lead already has this score, or has not named the deal. */
function adjustmentsOf(
  { deals = [] }: Lead,
  { deal_scores = {}, whole_deals = [] }: LeadDeals,
  { deal_key, deal_id, previous_score, score, adjustments }: records.RecordDealScore,
): records.ScoreAdjustment[] {
  const known = deal_scores[deal_key] ?? 0;
  const points = (score ?? 0) - known;
  if (points === 0 || !deals.includes(deal_key)) return [];
  if (!adjustments || previous_score !== known || whole_deals.includes(deal_key))
    return [{ reason: 'deal', deal_id, points }];
  return adjustments.map((one) => ({ ...one, deal_id }));
}

function decisionOf(
  lead: Lead,
  { ou_id, lead_id, configuration_version, decided_at, fire_triggers }: records.RecordDealScore,
  changes: readonly records.ScoreAdjustment[],
): records.ScoreAdjusted {
  const { deal_scores: before = {} } = lead;
  const { deal_scores: after } = withDealAdjustments(lead, { ou_id, adjustments: [...changes] });
  const [previous_score, score] = [dealScoreOf(before), dealScoreOf(after)];
  const held = { before: previous_score - sumOf(before), after: score - sumOf(after) };
  return {
    ou_id,
    lead_id,
    score_type: 'deal',
    previous_score,
    score,
    configuration_version,
    adjustments: [...changes, ...heldBack(held)],
    decided_at,
    fire_triggers,
  };
}

/** The change of the points that keep the sum in the range of scores: each adjustment is in that range too. */
function heldBack({ before, after }: { before: number; after: number }): records.ScoreAdjustment[] {
  const reason = before + after < 0 ? 'held_at_largest_score' : 'held_at_smallest_score';
  const held: records.ScoreAdjustment[] = [];
  for (let left = after - before; left !== 0;) {
    const points = heldInRange(left);
    held.push({ reason, points });
    left -= points;
  }
  return held;
}
