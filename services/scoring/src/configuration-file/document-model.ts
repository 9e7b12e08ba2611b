// The document of a configuration: all that people set, without ids, versions and authors. Pure.
import type { records } from '@lead-scoring/contracts';
import {
  noAccounts,
  noDecays,
  noProfile,
  rulesetLimitsOf,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { rulesetsOf } from '../configuration/state.js';
import { fileDecayOf } from './decays-section.js';
import { documentConditions } from './filters-section.js';
import {
  accountRules,
  byRuleset,
  dealRules,
  engagementRules,
  fileRuleOf,
  profileRules,
  type KeptRule,
  type RuleKind,
} from './rule-kinds-model.js';

export function documentOf(configuration: ScoringConfiguration): Required<records.ConfigurationFile> {
  const { levels, decays = noDecays, profile = noProfile, accounts = noAccounts, filters } = configuration;
  const { profile_levels = [], grid = null } = configuration;
  return {
    engagement_rulesets: rulesetsIn(configuration, engagementRules),
    engagement_levels: levels.map(fileLevelOf),
    decays: [...decays.rules.values()].map((rule) => fileDecayOf(rule, configuration)),
    profile_mappings: [...profile.mappings.values()].map(({ field, source, transform }) => ({
      field,
      source,
      ...(transform && { transform }),
    })),
    profile_rulesets: rulesetsIn(configuration, profileRules),
    profile_levels: profile_levels.map(fileLevelOf),
    account_rulesets: rulesetsIn(configuration, accountRules),
    account_roll_up: accounts.roll_up,
    account_levels: accounts.levels.map(fileLevelOf),
    deal_rulesets: rulesetsIn(configuration, dealRules),
    grid,
    filters: [...filters.values()].map(({ name, conditions }) => ({
      name,
      conditions: documentConditions(conditions, configuration),
    })),
  };
}

function rulesetsIn<FileRule extends object, Kept extends KeptRule>(
  configuration: ScoringConfiguration,
  kind: RuleKind<FileRule, Kept>,
): records.FileRuleset<FileRule>[] {
  const rules = byRuleset(kind.rulesOf(configuration));
  return rulesetsOf(configuration, kind.scoreType).map((ruleset) => ({
    name: ruleset.name,
    active: ruleset.active,
    ...rulesetLimitsOf(ruleset),
    rules: (rules.get(ruleset.id) ?? []).map((rule) => fileRuleOf(kind, rule)),
  }));
}

function fileLevelOf({ name, min_score, max_score, color }: records.FileLevel): records.FileLevel {
  return { name, min_score, max_score, color };
}
