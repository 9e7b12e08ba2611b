// The document of a configuration: its rulesets, rules and levels without ids, versions and authors. Pure.
import { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { rulesetsOf, type Rule } from '../configuration/state.js';

const fieldsOfRule = Object.keys(records.ruleFields) as (keyof typeof records.ruleFields)[];

export function documentOf(configuration: ScoringConfiguration): Required<records.ConfigurationFile> {
  const byRuleset = rulesByRuleset(configuration);
  return {
    engagement_rulesets: rulesetsOf(configuration, 'engagement').map(({ id, name, active }) => ({
      name,
      active,
      rules: (byRuleset.get(id) ?? []).map(fileRuleOf),
    })),
    engagement_levels: configuration.levels.map(({ name, min_score, max_score, color }) => ({
      name,
      min_score,
      max_score,
      color,
    })),
  };
}

/** A rule without its id, version and author, which belong to this organizational unit alone. */
export function fileRuleOf(rule: Rule): records.FileRule {
  const fields = fieldsOfRule.flatMap((field) => {
    const value: unknown = rule[field];
    const isDefault =
      value === undefined ||
      (field === 'active' && value === true) ||
      (Array.isArray(value) && value.length === 0);
    return isDefault ? [] : [[field, value] as const];
  });
  return Object.fromEntries(fields) as unknown as records.FileRule;
}

export function rulesByRuleset({ rules }: Pick<ScoringConfiguration, 'rules'>): Map<string, Rule[]> {
  const byRuleset = new Map<string, Rule[]>();
  for (const rule of rules.values()) {
    const others = byRuleset.get(rule.ruleset_id);
    if (others) others.push(rule);
    else byRuleset.set(rule.ruleset_id, [rule]);
  }
  return byRuleset;
}
