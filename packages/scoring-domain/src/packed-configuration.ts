// The text form in which services store a configuration.
import type { Grid, routeDeclarations } from '@lead-scoring/contracts';
import type { FormerRuleset, ScoringConfiguration } from './configuration.js';
import { packedDeals, unpackedDeals, type PackedDeals } from './deal-configuration.js';
import { packedAccounts, unpackedAccounts, type PackedAccounts } from './account-configuration.js';
import { packedProfile, unpackedProfile, type PackedProfile } from './profile-configuration.js';
import type { DecayConfiguration, DecayRule } from './decays/decay-configuration.js';
import type { FormerRule } from './rule-words.js';
import type { SavedFilter } from './filters/saved-filter.js';

type EngagementLevel = routeDeclarations.EngagementLevel;
type Rule = routeDeclarations.Rule;
type Ruleset = routeDeclarations.Ruleset;

/** Serialises a configuration as one JSON text. `unpackConfiguration` reads it back. */
export function packConfiguration(configuration: ScoringConfiguration): string {
  const { rulesets, rules, levels, filters, former, former_rulesets, profile } = configuration;
  const { profile_levels, grid, decays, deals, accounts } = configuration;
  return JSON.stringify({
    rulesets: [...rulesets.values()],
    rules: [...rules.values()],
    levels,
    ...(filters.size > 0 && { filters: [...filters.values()] }),
    ...(former.size > 0 && { former: [...former] }),
    ...(profile && { profile: packedProfile(profile) }),
    ...(deals && { deals: packedDeals(deals) }),
    ...(accounts && { accounts: packedAccounts(accounts) }),
    ...(former_rulesets.size > 0 && { former_rulesets: [...former_rulesets] }),
    ...(profile_levels && { profile_levels }),
    ...(grid && { grid }),
    ...(decays && { decays: { ...decays, rules: [...decays.rules.values()] } }),
  });
}

/** Reads the text that `packConfiguration` made. */
export function unpackConfiguration(
  identity: Pick<ScoringConfiguration, 'ou_id' | 'version'>,
  text: string,
): ScoringConfiguration {
  // Configurations stored before levels or filters existed have none.
  const {
    rulesets,
    rules,
    levels = [],
    filters = [],
    former = [],
    profile,
    deals,
    accounts,
    former_rulesets = [],
    profile_levels,
    grid,
    decays,
  } = JSON.parse(text) as {
    rulesets: Ruleset[];
    rules: Rule[];
    levels?: EngagementLevel[];
    filters?: SavedFilter[];
    former?: [string, FormerRule[]][];
    profile?: PackedProfile;
    deals?: PackedDeals;
    accounts?: PackedAccounts;
    former_rulesets?: [string, FormerRuleset][];
    profile_levels?: EngagementLevel[];
    grid?: Grid;
    decays?: Omit<DecayConfiguration, 'rules'> & { rules: DecayRule[] };
  };
  return {
    ...identity,
    rulesets: new Map(rulesets.map((ruleset) => [ruleset.id, ruleset])),
    rules: new Map(rules.map((rule) => [rule.id, rule])),
    levels,
    filters: new Map(filters.map((filter) => [filter.id, filter])),
    former: new Map(former),
    ...(profile && { profile: unpackedProfile(profile) }),
    ...(deals && { deals: unpackedDeals(deals) }),
    ...(accounts && { accounts: unpackedAccounts(accounts) }),
    former_rulesets: new Map(former_rulesets),
    ...(profile_levels && { profile_levels }),
    ...(grid && { grid }),
    ...(decays && { decays: { ...decays, rules: new Map(decays.rules.map((rule) => [rule.id, rule])) } }),
  };
}
