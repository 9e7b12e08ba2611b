// The answers about stored deals, with the present names of rules and rulesets. Pure.
import { routeDeclarations, type JsonObject } from '@lead-scoring/contracts';
import {
  grouped,
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
    ...held.map(({ ruleset_id, points }): Reason => {
      const { name, max_score, min_score } = rulesetOf(configuration, ruleset_id);
      const bound = points < 0 ? max_score : min_score;
      const limit =
        bound === undefined
          ? 'by a limit that it had'
          : `${points < 0 ? 'at most' : 'at least'} ${grouped(bound)} a deal`;
      const what = `${grouped(Math.abs(points))} points ${points < 0 ? 'held back' : 'not taken away'}`;
      return { ruleset_id, ruleset_name: name, points, text: `${name}: ${what}, ${limit}` };
    }),
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
    ruleset_name: rulesetOf(configuration, ruleset_id).name,
    rule_id,
    rule_version,
    ...(rule?.label !== undefined && { label: rule.label }),
    points,
    text: shortenLabel(rule?.filter_label ?? 'A rule that was deleted since', 1_000),
  };
}

function rulesetOf(
  { rulesets, former_rulesets }: ScoringConfiguration,
  id: string,
): { name: string; min_score?: number | undefined; max_score?: number | undefined } {
  return rulesets.get(id) ?? former_rulesets.get(id) ?? { name: '' };
}
