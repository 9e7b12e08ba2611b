// Compiles rules with conditions on fields, whatever has the fields: profiles of leads, accounts. Done once for each version of a
// configuration. Pure.
import { compileFilters, type JsonObject, type MetadataTest } from '@lead-scoring/contracts';
import type { ConditionRule, ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { rangesOf, type RulesetRanges } from './limits-model.js';

export interface CompiledConditionRule {
  readonly rule: ConditionRule;
  readonly holds: MetadataTest;
}

export interface CompiledConditionRules {
  /** Active rules of active rulesets, in the order of their creation. */
  readonly rules: readonly CompiledConditionRule[];
  /** A rule, also one that gives no points; undefined for a rule that is gone. */
  readonly ruleOf: (ruleId: string) => CompiledConditionRule | undefined;
  /** The limits of the rulesets of the active rules. */
  readonly ranges: RulesetRanges;
}

export function compileConditionRules(
  rules: ReadonlyMap<string, ConditionRule>,
  rulesets: ScoringConfiguration['rulesets'],
): CompiledConditionRules {
  const compiled = new Map(
    [...rules].map(([id, rule]) => [id, { rule, holds: compileFilters(rule.conditions) }]),
  );
  const active = [...compiled.values()].filter(
    ({ rule }) => rule.active && rulesets.get(rule.ruleset_id)?.active === true,
  );
  return {
    rules: active,
    ruleOf: (ruleId) => compiled.get(ruleId),
    ranges: rangesOf(
      active.map(({ rule }) => rule),
      rulesets,
    ),
  };
}

/** The rules that give these fields their points. */
export function matchingRules(
  { rules }: Pick<CompiledConditionRules, 'rules'>,
  fields: JsonObject,
): ConditionRule[] {
  return rules.flatMap(({ rule, holds }) => (holds(fields) ? [rule] : []));
}
