// An OU's scoring configuration: its rulesets and rules, in the order in which they were made.
import type { routeDeclarations } from '@lead-scoring/contracts';

export type Ruleset = routeDeclarations.Ruleset;
export type Rule = routeDeclarations.Rule;

export interface Configuration {
  readonly ou_id: string;
  /** Grows with every change; 0 before the first. */
  readonly version: number;
  readonly rulesets: ReadonlyMap<string, Ruleset>;
  readonly rules: ReadonlyMap<string, Rule>;
}

export function emptyConfiguration(ouId: string): Configuration {
  return { ou_id: ouId, version: 0, rulesets: new Map(), rules: new Map() };
}

export function defaultRulesetOf(configuration: Configuration): Ruleset | undefined {
  for (const ruleset of configuration.rulesets.values()) if (ruleset.is_default) return ruleset;
  return undefined;
}
