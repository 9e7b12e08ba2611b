// Look-ups in an OU's configuration that only scoring needs; its form and its fold are in scoring-domain.
import type { routeDeclarations } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';

export type Ruleset = routeDeclarations.Ruleset;
export type Rule = routeDeclarations.Rule;

export function defaultRulesetOf(configuration: ScoringConfiguration): Ruleset | undefined {
  for (const ruleset of configuration.rulesets.values()) if (ruleset.is_default) return ruleset;
  return undefined;
}

export function rulesetsOf(
  { rulesets }: Pick<ScoringConfiguration, 'rulesets'>,
  scoreType: Ruleset['score_type'],
): Ruleset[] {
  return [...rulesets.values()].filter(({ score_type }) => score_type === scoreType);
}
