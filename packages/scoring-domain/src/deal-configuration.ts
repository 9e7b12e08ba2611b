// The deal part of an OU's scoring configuration: rules over deals, folded from their events. Pure.
import type { records } from '@lead-scoring/contracts';
import { withChangedRule, withNewRule, type ConditionRule } from './condition-rules.js';

/** The text in an explanation at the place of an event type, for a deal rule. */
export const dealEventType = 'Deal';

/** Rules in the order of their creation. */
export interface DealConfiguration {
  readonly rules: ReadonlyMap<string, ConditionRule>;
}

export const noDeals: DealConfiguration = { rules: new Map() };

export type DealConfigurationEvent =
  | { type: 'DealRuleCreated'; payload: records.DealRuleCreated }
  | { type: 'DealRuleUpdated'; payload: records.DealRuleUpdated };

/** Folds an event. The state before is not changed. */
export function evolveDealRules(
  deals: DealConfiguration,
  { type, payload }: DealConfigurationEvent,
): DealConfiguration {
  switch (type) {
    case 'DealRuleCreated':
      return { ...deals, rules: withNewRule(deals.rules, payload) };
    case 'DealRuleUpdated':
      return { ...deals, rules: withChangedRule(deals.rules, payload) };
  }
}

/** The deal part as it is stored in JSON. */
export interface PackedDeals {
  rules: ConditionRule[];
}

export function packedDeals({ rules }: DealConfiguration): PackedDeals {
  return { rules: [...rules.values()] };
}

export function unpackedDeals({ rules }: PackedDeals): DealConfiguration {
  return { rules: new Map(rules.map((rule) => [rule.id, rule])) };
}
