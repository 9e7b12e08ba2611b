// The profile part of an OU's scoring configuration: mappings and profile rules, folded from their events. Pure.
import { shownActor, type records, type routeDeclarations } from '@lead-scoring/contracts';
import { withChangedRule, withNewRule, withRulesActive, type ConditionRule } from './condition-rules.js';

export type ProfileMapping = routeDeclarations.ProfileMapping;
export type ProfileRule = ConditionRule;

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
  | { type: 'ProfileRuleUpdated'; payload: records.ProfileRuleUpdated }
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
      return { ...profile, rules: withNewRule(profile.rules, event.payload) };
    case 'ProfileRuleUpdated':
      return { ...profile, rules: withChangedRule(profile.rules, event.payload) };
    case 'ProfileRulesActivationChanged':
      return { ...profile, rules: withRulesActive(profile.rules, event.payload) };
    case 'ProfileMappingAdded': {
      const { mapping_id: id, field, source, transform, at: created_at, actor } = event.payload;
      const mapping = {
        id,
        field,
        source,
        ...(transform && { transform }),
        created_at,
        changed_by: shownActor(actor),
      };
      return { ...profile, mappings: new Map(profile.mappings).set(id, mapping) };
    }
    case 'ProfileMappingRemoved': {
      const mappings = new Map(profile.mappings);
      mappings.delete(event.payload.mapping_id);
      return { ...profile, mappings };
    }
  }
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
