// Decides on what events say of a deal: which fields change, and which points rules give or take. Pure. The decision is recorded,
// and rules are never evaluated again for the same mention.
import { dealLimits, type records } from '@lead-scoring/contracts';
import { conditionAdjustments, conditionChanges, sumOfPoints } from '../condition-rules/points-model.js';
import type { CompiledConditionRules } from '../condition-rules/rules-model.js';
import { withDealChanges } from './evolve.js';
import { supersedes } from './mention-model.js';
import type { DealCommand, DealEvent } from './messages.js';
import { conditionFieldsOf, type Deal } from './state.js';

/** The rules in force. */
export interface DealRules {
  /** The version of the OU's configuration. */
  readonly version: number;
  readonly compiled: CompiledConditionRules;
}

/**
 * The events of a command; none where it says nothing new.
 * @param deal null where the deal is not there
 */
export function decideDeal({ type, payload }: DealCommand, deal: Deal | null, rules: DealRules): DealEvent[] {
  switch (type) {
    case 'RecordDeal':
      return recordDeal(payload, deal, rules);
    case 'ForgetDealLead':
      return forgetLead(payload, deal);
  }
}

function recordDeal(command: records.RecordDeal, deal: Deal | null, rules: DealRules): DealEvent[] {
  const { ou_id, deal_key, deal_id, decided_at, fire_triggers } = command;
  const { fields = {}, leads = [], score: previous_score = 0 } = deal ?? {};
  const changes = command.changes.filter((change) => supersedes(change, fields[change.field]));
  const lead_id = newLead(command.lead_id, leads);
  const adjustments = adjustmentsOf(deal, { id: deal_id, fields: withDealChanges(fields, changes) }, rules);
  const unsent = unsentScore(command, deal, rules);
  if (deal && changes.length === 0 && lead_id === undefined && adjustments.length === 0) return unsent;
  const score = previous_score + sumOfPoints(adjustments);
  const isFirstSent = !deal?.score_sent && previous_score === 0 && score !== 0;
  return [
    ...unsent,
    {
      type: 'DealScored',
      payload: {
        ou_id,
        deal_key,
        deal_id,
        ...(!deal && { new_deal: true }),
        ...(lead_id !== undefined && { lead_id }),
        ...(changes.length > 0 && { changes }),
        previous_score,
        score,
        ...(isFirstSent && { score_sent: true }),
        configuration_version: rules.version,
        ...(adjustments.length > 0 && { adjustments }),
        decided_at,
        fire_triggers,
      },
    },
  ];
}

/**
 * The decision that sends its score to the leads of a deal that was scored before leads had deal scores. It fires no triggers,
 * because the points are not new.
 */
function unsentScore(
  { ou_id, deal_key, deal_id, decided_at }: records.RecordDeal,
  deal: Deal | null,
  { version }: DealRules,
): DealEvent[] {
  if (!deal || deal.score_sent || deal.score === 0) return [];
  return [
    {
      type: 'DealScored',
      payload: {
        ou_id,
        deal_key,
        deal_id,
        previous_score: deal.score,
        score: deal.score,
        score_sent: true,
        configuration_version: version,
        decided_at,
        fire_triggers: false,
      },
    },
  ];
}

/** The lead, where it names the deal for the first time and the deal remembers one more. */
function newLead(leadId: string | undefined, known: readonly string[]): string | undefined {
  if (leadId === undefined || known.length >= dealLimits.leads || known.includes(leadId)) return undefined;
  return leadId;
}

/** The differences between the points that are due and those that the deal has. */
function adjustmentsOf(
  deal: Deal | null,
  after: Pick<Deal, 'id' | 'fields'>,
  { compiled }: DealRules,
): records.DealAdjustment[] {
  const points = deal ?? { given: [] };
  if (points.given.length === 0 && compiled.rules.length === 0) return [];
  return conditionAdjustments(conditionChanges(points, compiled, conditionFieldsOf(after)), 'deal_rule');
}

/** A deal goes with its last lead. */
function forgetLead(command: records.ForgetDealLead, deal: Deal | null): DealEvent[] {
  if (!deal?.leads.includes(command.lead_id)) return [];
  return deal.leads.length > 1
    ? [{ type: 'DealLeadRemoved', payload: command }]
    : [{ type: 'DealRemoved', payload: { ...command, previous_score: deal.score } }];
}
