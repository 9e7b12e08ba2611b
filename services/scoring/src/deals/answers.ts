// The answers about stored deals, with the present names of rules and rulesets. Pure.
import { routeDeclarations, type JsonObject } from '@lead-scoring/contracts';
import {
  heldWords,
  namedRuleset,
  ruleWordsAsOf,
  shortenLabel,
  type RuleWords,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import type { GivenPoints } from '../condition-rules/points-model.js';
import { conditionFieldsOf, type Deal } from './state.js';

type DealAnswer = routeDeclarations.Deal;
type Reason = DealAnswer['reasons'][number];

/** @param maximumReasons of which the largest are shown */
export function dealAnswer(
  deal: Deal,
  configuration: ScoringConfiguration,
  maximumReasons: number,
): DealAnswer {
  const reasons = reasonsOf(deal, configuration);
  return {
    id: deal.id,
    ...dealFieldsOf(conditionFieldsOf(deal)),
    score: deal.score,
    reasons: reasons.slice(0, maximumReasons),
    reasons_total: reasons.length,
    lead_ids: [...deal.leads],
    created_at: deal.created_at,
    updated_at: deal.updated_at,
  };
}

/** The fields as answers have them: null where the deal has no value. */
export function dealFieldsOf(
  fields: JsonObject,
): Pick<DealAnswer, 'stage' | 'amount' | 'currency' | 'closed_at'> {
  const { stage = null, amount = null, currency = null, closed_at = null } = fields;
  return { stage, amount, currency, closed_at } as ReturnType<typeof dealFieldsOf>;
}

function reasonsOf({ given, held }: Deal, configuration: ScoringConfiguration): Reason[] {
  return [
    ...given.map((one) => ruleReason(one, configuration)),
    ...held.map((one): Reason => ({
      ruleset_id: one.ruleset_id,
      ruleset_name: namedRuleset(configuration, one.ruleset_id).name,
      points: one.points,
      text: heldWords(one, configuration, 'a deal'),
    })),
  ].sort((one, other) => Math.abs(other.points) - Math.abs(one.points));
}

function ruleReason(
  { rule_id, rule_version, ruleset_id, points }: GivenPoints,
  configuration: ScoringConfiguration,
): Reason {
  const rule: Pick<RuleWords, 'label' | 'filter_label'> | undefined =
    ruleWordsAsOf(configuration, rule_id, rule_version) ?? configuration.deals?.rules.get(rule_id);
  return {
    ruleset_id,
    ruleset_name: namedRuleset(configuration, ruleset_id).name,
    rule_id,
    rule_version,
    ...(rule?.label !== undefined && { label: rule.label }),
    points,
    text: shortenLabel(rule?.filter_label ?? 'A rule that was deleted since', 1_000),
  };
}
