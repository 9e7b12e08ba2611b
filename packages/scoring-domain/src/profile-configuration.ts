// The profile part of an OU's scoring configuration: mappings and profile rules, folded from their events. Pure.
import { filterLabel, type records, type routeDeclarations } from '@lead-scoring/contracts';
import { shortenLabel } from './filter-label.js';

export type ProfileMapping = routeDeclarations.ProfileMapping;
export type ProfileRule = routeDeclarations.ProfileRule;

/** The text in an explanation at the place of an event type, for a profile rule. */
export const profileEventType = 'Profile';

/** Mappings and rules in the order of their creation. */
export interface ProfileConfiguration {
  readonly mappings: ReadonlyMap<string, ProfileMapping>;
  readonly rules: ReadonlyMap<string, ProfileRule>;
}

export const noProfile: ProfileConfiguration = { mappings: new Map(), rules: new Map() };

export type ProfileConfigurationEvent =
  | { type: 'ProfileRuleCreated'; payload: records.ProfileRuleCreated }
  | { type: 'ProfileRulesActivationChanged'; payload: records.ProfileRulesActivationChanged }
  | { type: 'ProfileMappingAdded'; payload: records.ProfileMappingAdded }
  | { type: 'ProfileMappingRemoved'; payload: records.ProfileMappingRemoved };

/** Folds an event. The state before is not changed. */
export function evolveProfile(
  profile: ProfileConfiguration,
  event: ProfileConfigurationEvent,
): ProfileConfiguration {
  switch (event.type) {
    case 'ProfileRuleCreated':
      return { ...profile, rules: new Map(profile.rules).set(event.payload.rule_id, newRule(event.payload)) };
    case 'ProfileRulesActivationChanged': {
      const { active, at, actor } = event.payload;
      const rules = new Map(profile.rules);
      for (const { rule_id, version } of event.payload.rules) {
        const known = rules.get(rule_id);
        if (known) rules.set(rule_id, { ...known, active, version, updated_at: at, changed_by: actor });
      }
      return { ...profile, rules };
    }
    case 'ProfileMappingAdded': {
      const { mapping_id: id, field, source, transform, at: created_at, actor: changed_by } = event.payload;
      const mapping = { id, field, source, ...(transform && { transform }), created_at, changed_by };
      return { ...profile, mappings: new Map(profile.mappings).set(id, mapping) };
    }
    case 'ProfileMappingRemoved': {
      const mappings = new Map(profile.mappings);
      mappings.delete(event.payload.mapping_id);
      return { ...profile, mappings };
    }
  }
}

function newRule(payload: records.ProfileRuleCreated): ProfileRule {
  const { rule_id: id, ruleset_id, conditions, weight, label, active, version, at, actor } = payload;
  return {
    id,
    ruleset_id,
    conditions,
    filter_label: shortenLabel(filterLabel(conditions) ?? ''),
    weight,
    ...(label !== undefined && { label }),
    active,
    version,
    created_at: at,
    updated_at: at,
    changed_by: actor,
  };
}

/** The profile part as it is stored in JSON. */
export interface PackedProfile {
  mappings: ProfileMapping[];
  rules: ProfileRule[];
}

export function packedProfile({ mappings, rules }: ProfileConfiguration): PackedProfile {
  return { mappings: [...mappings.values()], rules: [...rules.values()] };
}

export function unpackedProfile({ mappings, rules }: PackedProfile): ProfileConfiguration {
  return {
    mappings: new Map(mappings.map((mapping) => [mapping.id, mapping])),
    rules: new Map(rules.map((rule) => [rule.id, rule])),
  };
}
