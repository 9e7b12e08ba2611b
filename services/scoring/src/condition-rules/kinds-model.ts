// The kinds of rules with conditions on fields: their events, and the conditions that a kind refuses. Pure.
import type { AttributeFilter } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import type { Refusal } from '../configuration/messages.js';
import { refusalOfDealConditions } from '../deals/decide-rule.js';

/** The score type of the rulesets that hold a kind. */
export type ConditionRuleKind = 'profile' | 'account' | 'deal';

/** Why no rule of the kind can have the conditions; null: it can. */
type RefusalOfConditions = (conditions: readonly AttributeFilter[]) => Refusal | null;

const anyConditions: RefusalOfConditions = () => null;

export const conditionRuleKinds = {
  profile: { created: 'ProfileRuleCreated', updated: 'ProfileRuleUpdated', refusalOf: anyConditions },
  account: { created: 'AccountRuleCreated', updated: 'AccountRuleUpdated', refusalOf: anyConditions },
  deal: { created: 'DealRuleCreated', updated: 'DealRuleUpdated', refusalOf: refusalOfDealConditions },
} as const satisfies Record<
  ConditionRuleKind,
  { created: string; updated: string; refusalOf: RefusalOfConditions }
>;

/** The kind of a rule that the configuration has. */
export function kindOfConditionRule(
  { accounts, deals }: Pick<ScoringConfiguration, 'accounts' | 'deals'>,
  ruleId: string,
): ConditionRuleKind {
  if (accounts?.rules.has(ruleId)) return 'account';
  return deals?.rules.has(ruleId) ? 'deal' : 'profile';
}
