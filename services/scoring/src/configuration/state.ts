// Look-ups in an OU's configuration that only scoring needs; its form and its fold are in scoring-domain.
import type { routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';

export type Ruleset = routeDeclarations.Ruleset;
export type Rule = routeDeclarations.Rule;

export function defaultRulesetOf(configuration: ScoringConfiguration): Ruleset | undefined {
  for (const ruleset of configuration.rulesets.values()) if (ruleset.is_default) return ruleset;
  return undefined;
}
