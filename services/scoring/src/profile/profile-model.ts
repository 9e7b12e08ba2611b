// Compiles the profile part of a configuration: mappings, and the rules that give points. Done once for each version.
import { compileMappings, type MappingReader, type ScoringConfiguration } from '@lead-scoring/scoring-domain';
import { compileConditionRules, type CompiledConditionRules } from '../condition-rules/rules-model.js';

export interface CompiledProfile extends CompiledConditionRules {
  readonly mappings: MappingReader;
}

/** Null for an OU that has never configured profile scoring: its leads have no profile points. */
export function compileProfile({
  profile,
  rulesets,
}: Pick<ScoringConfiguration, 'profile' | 'rulesets'>): CompiledProfile | null {
  if (!profile) return null;
  return {
    mappings: compileMappings(profile.mappings.values()),
    ...compileConditionRules(profile.rules, rulesets),
  };
}
