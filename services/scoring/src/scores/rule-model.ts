// Compiles a configuration: active rules by event type, so that an event is compared only with the rules of its type. Done once
// for each version of a configuration.
import { compileFilters, eventTypeKey, type JsonObject, type MetadataTest } from '@lead-scoring/contracts';
import type { DecayPeriod } from '@lead-scoring/contracts';
import {
  compileDecays,
  noAccounts,
  periodsOf,
  type CompiledDecays,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import type { Rule } from '../configuration/state.js';
import { compileAccounts, type CompiledAccounts } from '../accounts/compiled-model.js';
import type { MergedAccounts } from '../accounts/merge-model.js';
import { compileProfile, type CompiledProfile } from '../profile/profile-model.js';
import { compileLimits, type CompiledLimits } from './limits-model.js';

export interface CompiledRule {
  readonly rule: Rule;
  readonly filters: MetadataTest;
}

export interface CompiledRules {
  readonly version: number;
  /** Null for an OU that has never configured profile scoring. */
  readonly profile: CompiledProfile | null;
  /** Null for an OU without account scoring. */
  readonly accounts: CompiledAccounts | null;
  /** Accounts that were merged, by id, also of an OU whose account scoring was switched off since. */
  readonly mergedAccounts: MergedAccounts;
  /** The levels of the same version: a decision that crosses one of their bounds is told of. */
  readonly levels: ScoringConfiguration['levels'];
  readonly profileLevels: ScoringConfiguration['levels'];
  /** Active rules of active rulesets for events of this type, in the order of their creation. */
  of(eventType: string): readonly CompiledRule[];
  /** null: none of them has a limit. */
  readonly limits: CompiledLimits | null;
  /** null: the OU has never had a decay rule; deciding then costs nothing more. */
  readonly decays: RulesOfDecay | null;
}

export interface RulesOfDecay {
  /** The version of the configuration in which ticks changed last. */
  readonly version: number;
  readonly periods: readonly DecayPeriod[];
  readonly compiled: CompiledDecays;
}

const none: readonly CompiledRule[] = [];
/** The number of spellings of event types in the cache. */
const maximumSpellings = 10_000;

export function compileRules(configuration: ScoringConfiguration): CompiledRules {
  const byKey = new Map<string, CompiledRule[]>();
  for (const rule of configuration.rules.values()) {
    if (!rule.active || configuration.rulesets.get(rule.ruleset_id)?.active !== true) continue;
    const key = eventTypeKey(rule.event_type);
    const others = byKey.get(key);
    const compiled = { rule, filters: compileFilters(rule.attribute_filters) };
    if (others) others.push(compiled);
    else byKey.set(key, [compiled]);
  }
  const bySpelling = new Map<string, readonly CompiledRule[]>();
  return {
    version: configuration.version,
    profile: compileProfile(configuration),
    accounts: compileAccounts(configuration),
    mergedAccounts: configuration.accounts?.merged ?? noAccounts.merged,
    levels: configuration.levels,
    limits: compileLimits(configuration),
    decays: compileRulesOfDecay(configuration),
    profileLevels: configuration.profile_levels ?? [],
    of: (eventType) => {
      let rules = bySpelling.get(eventType);
      if (!rules) {
        rules = byKey.get(eventTypeKey(eventType)) ?? none;
        if (bySpelling.size >= maximumSpellings) bySpelling.clear();
        bySpelling.set(eventType, rules);
      }
      return rules;
    },
  };
}

function compileRulesOfDecay({ decays }: ScoringConfiguration): RulesOfDecay | null {
  if (!decays) return null;
  const periods = periodsOf(decays);
  return { version: decays.version, periods, compiled: compileDecays(periods) };
}

const noMetadata: JsonObject = {};

/** Whether an event gets the rule's points: `starts_at` inclusive, `ends_at` exclusive, by the event's own time. */
export function ruleMatches(
  { rule, filters }: CompiledRule,
  timestamp: string,
  metadata: JsonObject | undefined,
): boolean {
  if (rule.starts_at !== undefined && timestamp < rule.starts_at) return false;
  if (rule.ends_at !== undefined && timestamp >= rule.ends_at) return false;
  return filters(metadata ?? noMetadata);
}
