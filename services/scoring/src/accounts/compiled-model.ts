// Compiles the account part of a configuration: rules that give points, and the roll-up. Done once for each version. Pure.
import type { RollUp } from '@lead-scoring/contracts';
import { defaultRollUp, noAccounts, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { compileConditionRules, type CompiledConditionRules } from '../condition-rules/rules-model.js';

export interface CompiledAccounts extends CompiledConditionRules {
  readonly rollUp: RollUp;
}

/** Null for an OU without account scoring: it has no active account ruleset and no roll-up, and its leads contribute nothing. */
export function compileAccounts({
  accounts = noAccounts,
  rulesets,
}: Pick<ScoringConfiguration, 'accounts' | 'rulesets'>): CompiledAccounts | null {
  const { rules, roll_up } = accounts;
  const rollsUp = roll_up !== null && roll_up.method !== 'none';
  if (!rollsUp && !hasAccountRuleset(rulesets)) return null;
  return { ...compileConditionRules(rules, rulesets), rollUp: roll_up ?? defaultRollUp };
}

function hasAccountRuleset(rulesets: ScoringConfiguration['rulesets']): boolean {
  for (const { score_type, active } of rulesets.values()) if (active && score_type === 'account') return true;
  return false;
}
