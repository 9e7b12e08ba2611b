// Commands and events of profile scoring: mappings from event metadata to profile fields, and rules over profiles.
import { z } from 'zod';
import { id, name, weight } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { mappingFields } from '../vocabulary/profile.js';
import { defineRecord, type PayloadOf } from './record.js';
import { rulesActivationChanged, setRulesActive } from './scoring.js';

/** A profile rule's fields in commands, events and answers. */
export const profileRuleFields = {
  weight: weight
    .describe('Points of a lead whose profile meets all conditions; not 0.')
    .meta({ example: 20 }),
  label: name(100).optional(),
  active: z.boolean().optional().describe('Default true.'),
};

/** The conditions of a profile rule in commands and events. */
export const recordedConditions = z.array(attributeFilter).min(1).max(20);

export const createProfileRule = defineRecord({
  type: 'CreateProfileRule',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Create a rule over the profiles of leads.',
  schema: z.strictObject({
    ou_id: id,
    rule_id: id,
    ruleset_id: id,
    conditions: recordedConditions,
    ...profileRuleFields,
    ...requested,
  }),
});
export type CreateProfileRule = PayloadOf<typeof createProfileRule>;

export const setProfileRulesActive = defineRecord({
  type: 'SetProfileRulesActive',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Switch many profile rules on or off: all of them or, when one is unknown, none.',
  schema: setRulesActive.schema,
});
export type SetProfileRulesActive = PayloadOf<typeof setProfileRulesActive>;

export const addProfileMapping = defineRecord({
  type: 'AddProfileMapping',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Feed a profile field from event metadata.',
  schema: z.strictObject({ ou_id: id, mapping_id: id, ...mappingFields, ...requested }),
});
export type AddProfileMapping = PayloadOf<typeof addProfileMapping>;

export const removeProfileMapping = defineRecord({
  type: 'RemoveProfileMapping',
  topic: 'scoring.commands',
  key: 'ou_id',
  description: 'Feed a profile field from this place no more.',
  schema: z.strictObject({ ou_id: id, mapping_id: id, ...requested }),
});
export type RemoveProfileMapping = PayloadOf<typeof removeProfileMapping>;

export const profileRuleCreated = defineRecord({
  type: 'ProfileRuleCreated',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A profile rule exists; it counts for a lead from the next event of the lead on.',
  schema: z.strictObject({
    ou_id: id,
    rule_id: id,
    ruleset_id: id,
    conditions: recordedConditions,
    ...profileRuleFields,
    active: z.boolean(),
    version: z.int().min(1),
    ...happened,
  }),
});
export type ProfileRuleCreated = PayloadOf<typeof profileRuleCreated>;

export const profileRuleUpdated = defineRecord({
  type: 'ProfileRuleUpdated',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'A profile rule has these fields and no others. A lead gets or loses points by them with its next event.',
  schema: profileRuleCreated.schema,
});
export type ProfileRuleUpdated = PayloadOf<typeof profileRuleUpdated>;

export const profileRulesActivationChanged = defineRecord({
  type: 'ProfileRulesActivationChanged',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'Profile rules were switched on or off together. A lead gets or loses their points with its next event.',
  schema: rulesActivationChanged.schema,
});
export type ProfileRulesActivationChanged = PayloadOf<typeof profileRulesActivationChanged>;

export const profileMappingAdded = defineRecord({
  type: 'ProfileMappingAdded',
  topic: 'scoring.events',
  key: 'ou_id',
  description: 'A profile field is fed from event metadata, for events that are processed from now on.',
  schema: z.strictObject({ ou_id: id, mapping_id: id, ...mappingFields, ...happened }),
});
export type ProfileMappingAdded = PayloadOf<typeof profileMappingAdded>;

export const profileMappingRemoved = defineRecord({
  type: 'ProfileMappingRemoved',
  topic: 'scoring.events',
  key: 'ou_id',
  description:
    'A mapping is gone. A field that no other mapping feeds leaves the profile of a lead with its next event.',
  schema: z.strictObject({ ou_id: id, mapping_id: id, ...happened }),
});
export type ProfileMappingRemoved = PayloadOf<typeof profileMappingRemoved>;

export const profileScoringRecords = [
  createProfileRule,
  setProfileRulesActive,
  addProfileMapping,
  removeProfileMapping,
  profileRuleCreated,
  profileRuleUpdated,
  profileRulesActivationChanged,
  profileMappingAdded,
  profileMappingRemoved,
] as const;
