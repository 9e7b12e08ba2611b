// Decides on rules over deals: pure; time and ids come with the command.
import {
  dealConditionFields,
  nearestName,
  type AttributeFilter,
  type records,
  type Warning,
} from '@lead-scoring/contracts';
import { noDeals, type ConditionRule, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { ConfigurationDecision, Refusal } from '../configuration/messages.js';

/** The event that creates a deal rule, or why there is none. */
export function createDealRule(payload: records.DealRuleCreated): Refusal | ConfigurationDecision {
  return (
    refusalOfDealConditions(payload.conditions) ?? {
      outcome: 'done',
      events: [{ type: 'DealRuleCreated', payload }],
    }
  );
}

/** The event that changes a deal rule, or why there is none. */
export function updateDealRule(payload: records.DealRuleUpdated): Refusal | ConfigurationDecision {
  return (
    refusalOfDealConditions(payload.conditions) ?? {
      outcome: 'done',
      events: [{ type: 'DealRuleUpdated', payload }],
    }
  );
}

/** The refusal of conditions on fields that no deal has: they would never be met. */
export function refusalOfDealConditions(conditions: readonly AttributeFilter[]): Refusal | null {
  const errors = conditions.flatMap(({ field }, index) => {
    if (dealConditionFields.includes(field)) return [];
    const meant = nearestName(field, dealConditionFields);
    return [
      {
        path: `body.conditions[${String(index)}].field`,
        message: `must be ${dealConditionFields.join(', ')}${meant === undefined ? '' : `; did you mean "${meant}"`}`,
      },
    ];
  });
  if (errors.length === 0) return null;
  return {
    outcome: 'rejected',
    code: 'invalid_request',
    message: `A deal has the fields ${dealConditionFields.join(', ')}, and no others that conditions could be on.`,
    errors,
  };
}

/** What a caller may not have meant by a new rule. */
export function dealRuleWarnings(
  ruleId: string,
  { deals: { rules } = noDeals }: Pick<ScoringConfiguration, 'deals'>,
): Warning[] {
  const rule = rules.get(ruleId);
  const same = rule && [...rules.values()].find((other) => other.id !== ruleId && doesTheSame(rule, other));
  if (!same) return [];
  return [
    {
      code: 'identical_rule',
      message: `The rule ${same.id}${same.label === undefined ? '' : ` ("${same.label}")`} gives the same points for the same deals: both count. If this is not intended, deactivate one of them.`,
    },
  ];
}

function doesTheSame(one: ConditionRule, other: ConditionRule): boolean {
  const ofRule = ({ conditions, weight, active }: ConditionRule) =>
    JSON.stringify([conditions.map((condition) => JSON.stringify(condition)).sort(), weight, active]);
  return one.active && ofRule(one) === ofRule(other);
}
