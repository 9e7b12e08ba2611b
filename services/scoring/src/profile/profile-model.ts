// Compiles the profile part of a configuration: mappings, and the rules that give points. Done once for each version.
import { compileFilters, type JsonObject, type MetadataTest } from '@lead-scoring/contracts';
import {
  compileMappings,
  type MappingReader,
  type ProfileRule,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';

export interface CompiledProfileRule {
  readonly rule: ProfileRule;
  readonly holds: MetadataTest;
}

export interface CompiledProfile {
  readonly mappings: MappingReader;
  /** Active rules of active profile rulesets, in the order of their creation. */
  readonly rules: readonly CompiledProfileRule[];
  /** A rule, also one that gives no points; undefined for a rule that is gone. */
  readonly ruleOf: (ruleId: string) => CompiledProfileRule | undefined;
}

/** Null for an OU that has never configured profile scoring: its leads have no profile points. */
export function compileProfile({
  profile,
  rulesets,
}: Pick<ScoringConfiguration, 'profile' | 'rulesets'>): CompiledProfile | null {
  if (!profile) return null;
  const compiled = new Map(
    [...profile.rules].map(([id, rule]) => [id, { rule, holds: compileFilters(rule.conditions) }]),
  );
  return {
    mappings: compileMappings(profile.mappings.values()),
    rules: [...compiled.values()].filter(
      ({ rule }) => rule.active && rulesets.get(rule.ruleset_id)?.active === true,
    ),
    ruleOf: (ruleId) => compiled.get(ruleId),
  };
}

/** The rules that give a profile their points. */
export function matchingRules({ rules }: CompiledProfile, profile: JsonObject): ProfileRule[] {
  return rules.flatMap(({ rule, holds }) => (holds(profile) ? [rule] : []));
}
