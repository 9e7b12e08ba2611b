// Profile scoring: mappings from event metadata to profile fields, rules over profiles, and tests of them.
import { z } from 'zod';
import { id, name, page, pageParameters, time } from '../common.js';
import { profileRuleFields } from '../records/profile-scoring.js';
import { actor } from '../vocabulary/actor.js';
import { checkMetadata, metadataObject } from '../vocabulary/metadata.js';
import { mappingFields, profileField, profileLimits, profileValue } from '../vocabulary/profile.js';
import { profileConditions, profileRule } from './profile-rules.js';
import { defineRoute, editor, viewer } from './route.js';
import { bulkRuleUpdate, bulkRuleUpdated, ruleset } from './scoring-configuration.js';

const tag = 'Scoring configuration';

/** A new mapping names a key that a person can type; a recorded one may have any name that was taken before. */
const mappingSource = name(200)
  .describe(String(mappingFields.source.description))
  .meta({ example: 'metadata.job_title' });

/** A mapping's fields in requests. */
export const mappingForm = { ...mappingFields, source: mappingSource };

export const profileMapping = z
  .strictObject({
    id,
    ...mappingFields,
    created_at: time,
    changed_by: actor.optional().describe('Who added it, where it is known.'),
  })
  .meta({ id: 'ProfileMapping' });
export type ProfileMapping = z.infer<typeof profileMapping>;

export const listProfileMappings = defineRoute({
  name: 'listProfileMappings',
  method: 'GET',
  path: '/profile-scoring/mappings',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Mappings from event metadata to profile fields',
  query: z.strictObject({ field: profileField.optional(), ...pageParameters }),
  responses: { 200: { description: 'Mappings, oldest first', schema: page(profileMapping) } },
  problems: [],
});

export const addProfileMapping = defineRoute({
  name: 'addProfileMapping',
  method: 'POST',
  path: '/profile-scoring/mappings',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Feed a profile field from event metadata',
  description: `The value of the latest event wins. Several mappings may feed one field: within one event the oldest mapping that finds a value wins. Counts for events that are processed from now on. A text is cut at ${String(profileLimits.characters)} characters, a list at ${String(profileLimits.elements)} elements of ${String(profileLimits.elementCharacters)} characters. At most ${String(profileLimits.mappings)} mappings.`,
  body: z.strictObject(mappingForm).meta({
    id: 'ProfileMappingForm',
    example: {
      field: 'seniority',
      source: 'metadata.job_title',
      transform: { first_of: ['chief', 'vp', 'director', 'manager'] },
    },
  }),
  responses: { 201: { description: 'Added', schema: profileMapping } },
  problems: ['duplicate_mapping', 'limit_reached'],
});

export const removeProfileMapping = defineRoute({
  name: 'removeProfileMapping',
  method: 'DELETE',
  path: '/profile-scoring/mappings/{id}',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Remove a mapping',
  description:
    'A field that no other mapping feeds leaves the profile of each lead with the next event of the lead; rules over it then no longer match.',
  parameters: z.strictObject({ id }),
  responses: { 204: { description: 'Removed' } },
  problems: ['mapping_not_found'],
});

export const listProfileRulesets = defineRoute({
  name: 'listProfileRulesets',
  method: 'GET',
  path: '/profile-scoring/rulesets',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Profile rulesets',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Rulesets', schema: page(ruleset) } },
  problems: [],
});

export const listProfileRules = defineRoute({
  name: 'listProfileRules',
  method: 'GET',
  path: '/profile-scoring/rules',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Profile rules',
  query: z.strictObject({ ruleset_id: id.optional(), ...pageParameters }),
  responses: { 200: { description: 'Rules', schema: page(profileRule) } },
  problems: [],
});

export const setProfileRulesActive = defineRoute({
  name: 'setProfileRulesActive',
  method: 'PATCH',
  path: '/api/v1/ou/{ouId}/profile-rules/bulk',
  owner: 'scoring',
  kind: 'command',
  access: { ...editor, organisationUnit: 'path' },
  tag: 'Bulk rule updates',
  summary: 'Switch many profile rules on or off',
  description:
    'All or nothing: when an id is unknown, or is that of a rule of another kind, nothing changes (404). A repeated id counts once. updates may hold `active` only; any other field is 422 and named.',
  parameters: z.strictObject({ ouId: id }),
  body: bulkRuleUpdate,
  responses: { 200: { description: 'Updated', schema: bulkRuleUpdated } },
  problems: ['rule_not_found', 'field_not_allowed', 'limit_reached'],
});

const profile = z.record(z.string().max(200), profileValue).describe('Values by field.');

const sampleMetadata = metadataObject.superRefine((metadata, context) => {
  const problem = checkMetadata(metadata, '');
  if (problem)
    context.addIssue({
      code: 'custom',
      message: problem.message,
      path: problem.path.split('.').filter(Boolean),
    });
});

/** The most draft rules of one test. */
export const maximumDrafts = 100;
/** The most rules in the answer of a test. */
export const maximumTestedRules = 1_100;

/** Points that limits of rulesets hold. */
export const heldByRulesets = z
  .array(z.strictObject({ ruleset_id: id, points: z.int(), why: z.string().max(300) }))
  .max(200)
  .optional()
  .describe('Points that min_score and max_score of rulesets add or take; absent where there are none.');

/** The rules of a test in its answer. @param noun the thing that has the fields */
export const testedRules = (noun: 'profile' | 'account' | 'deal') => ({
  points: z.int().describe('Of all rules and drafts that match, within the limits of rulesets.'),
  rules: z
    .array(
      z.strictObject({
        rule_id: id.nullable().describe('null for a draft.'),
        ruleset_id: id.nullable().describe('null for a draft.'),
        label: z.string().max(100).optional(),
        weight: z.int(),
        matched: z.boolean().describe(`Whether the ${noun} meets all conditions.`),
        points: z.int().describe('0 where a condition fails, or the rule or its ruleset is switched off.'),
        why: z.string().max(2_000),
      }),
    )
    .max(maximumTestedRules)
    .describe('The rules in the order of their creation, then the drafts.'),
  rules_total: z
    .int()
    .min(0)
    .describe(`All rules and drafts; at most ${String(maximumTestedRules)} are shown.`),
  held: heldByRulesets,
});

export const testProfile = defineRoute({
  name: 'testProfile',
  method: 'POST',
  path: '/profile-scoring/test',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Test the profile rules on a sample or on a lead',
  description:
    'Says for each profile rule, and for each draft, whether it matches and why. Nothing is stored. The profile is that of the lead, then the values that the mappings read from `metadata`, then those of `profile`; later ones take the place of earlier ones.',
  body: z
    .strictObject({
      lead_id: id.optional().describe('A lead of this organizational unit.'),
      metadata: sampleMetadata
        .optional()
        .describe('The metadata of a sample event, which the mappings read.'),
      profile: z
        .record(profileField, profileValue)
        .refine((values) => Object.keys(values).length <= 100, 'must hold at most 100 fields')
        .optional()
        .meta({ description: 'Values by field.', maxProperties: 100 }),
      rules: z
        .array(
          z
            .strictObject({
              conditions: profileConditions,
              weight: profileRuleFields.weight,
              label: name(100).optional(),
            })
            .meta({ id: 'DraftProfileRule' }),
        )
        .max(maximumDrafts)
        .optional()
        .describe('Drafts to be tested beside the rules.'),
    })
    .refine(
      ({ lead_id, metadata, profile: values }) =>
        lead_id !== undefined || metadata !== undefined || values !== undefined,
      'must hold lead_id, metadata or profile',
    )
    .meta({
      id: 'ProfileTestForm',
      anyOf: [{ required: ['lead_id'] }, { required: ['metadata'] }, { required: ['profile'] }],
      example: { profile: { title: 'VP Sales' } },
    }),
  responses: {
    200: {
      description: 'The points, and each rule with the reason',
      schema: z
        .strictObject({
          ...testedRules('profile'),
          profile,
        })
        .meta({ id: 'ProfileTest' }),
    },
  },
  problems: ['lead_not_found'],
});
export type ProfileTest = z.infer<(typeof testProfile)['responses'][200]['schema']>;
