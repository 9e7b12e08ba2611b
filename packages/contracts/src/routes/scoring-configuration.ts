// Rulesets, rules and engagement levels.
import { z } from 'zod';
import { id, inOrder, moment, name, page, pageParameters, time, warned } from '../common.js';
import { actor } from '../vocabulary/actor.js';
import { attributeFilterForms } from '../vocabulary/filter-forms.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { ruleLimitFields, rulesetLimitFields, rulesetLimitForm } from '../records/rule-limits.js';
import {
  defaultLevelColor,
  levelFields,
  maximumLevels,
  ruleFields,
  rulesetScoreType,
  rulesetScoreTypes,
} from '../records/scoring.js';
import { newProfileRule, profileRuleForm } from './profile-rules.js';
import { defineRoute, editor, viewer } from './route.js';

const tag = 'Scoring configuration';

export const ruleset = z
  .strictObject({
    id,
    name: z.string().max(100),
    score_type: z.enum(rulesetScoreTypes),
    active: z.boolean(),
    is_default: z.boolean().describe('Takes the rules that name no ruleset.'),
    ...rulesetLimitFields,
    version: z.int().min(1),
    created_at: time,
    updated_at: time,
    changed_by: actor.optional().describe('Who made the latest change, where it is known.'),
  })
  .meta({ id: 'Ruleset' });
export type Ruleset = z.infer<typeof ruleset>;

export const rule = z
  .strictObject({
    id,
    ruleset_id: id,
    event_type: z.string().max(100),
    weight: z.int(),
    label: z.string().max(100).optional(),
    icon: z.string().max(50).optional(),
    attribute_filters: z.array(attributeFilter).max(20),
    filter_label: z.string().max(50_000).optional(),
    active: z.boolean(),
    starts_at: time.optional(),
    ends_at: time.optional(),
    ...ruleLimitFields,
    version: z.int().min(1),
    created_at: time,
    updated_at: time,
    changed_by: actor.optional().describe('Who made the latest change, where it is known.'),
  })
  .meta({ id: 'Rule' });
export type Rule = z.infer<typeof rule>;

export const newRule = rule.extend(warned).meta({ id: 'NewRule' });

export const ruleForm = {
  ...ruleFields,
  attribute_filters: attributeFilterForms.optional().describe('All must match.'),
  starts_at: moment.optional(),
  ends_at: moment.optional(),
};

const limits =
  "max_count, once_per and cap_points limit what the rule gives a lead; the explanation of the lead's score lists what they held back.";

export const createRuleset = defineRoute({
  name: 'createRuleset',
  method: 'POST',
  path: '/rulesets',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Create a ruleset',
  description:
    "min_score and max_score hold the ruleset's sum on a lead, an account or a deal between them. Points that they hold back are listed among its reasons: in the lead's explanation, in GET /accounts/{id} and in GET /deals/{id}.",
  body: z
    .strictObject({
      name: name(100),
      score_type: rulesetScoreType,
      active: z.boolean().default(true),
      ...rulesetLimitForm,
    })
    .meta({ id: 'RulesetForm' }),
  responses: { 201: { description: 'Created', schema: ruleset } },
  problems: ['duplicate_name', 'limit_reached', 'already_deleted'],
});

export const updateRuleset = defineRoute({
  name: 'updateRuleset',
  method: 'PATCH',
  path: '/rulesets/{id}',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Rename a ruleset, switch it on or off, or change its limits',
  description:
    'An inactive ruleset gives no points from now on; points given stay. New limits count from now on, too: a lead whose sum is beyond them keeps it, and gets no further points in this direction. Those of profile, account and deal rulesets hold the sum of the rules that match now, from the next event on that is about the lead, the account or the deal.',
  parameters: z.strictObject({ id }),
  body: z
    .strictObject({ name: name(100).optional(), active: z.boolean().optional(), ...rulesetLimitForm })
    .refine(
      (body) => Object.values(body).some((value) => value !== undefined),
      'must hold name, active, min_score or max_score',
    )
    .meta({ id: 'RulesetChange', minProperties: 1 }),
  responses: { 200: { description: 'Updated', schema: ruleset } },
  problems: ['ruleset_not_found', 'duplicate_name', 'limit_reached'],
});

export const listRulesets = defineRoute({
  name: 'listRulesets',
  method: 'GET',
  path: '/engagement-scoring/rulesets',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Engagement rulesets',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Rulesets', schema: page(ruleset) } },
  problems: [],
});

export const createRule = defineRoute({
  name: 'createRule',
  method: 'POST',
  path: '/rules',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Create a rule in a ruleset',
  description: `A rule of an engagement ruleset has an event type, and gives its weight for each matching event that is processed from now on. A rule of a profile ruleset has conditions on the profile of a lead, and gives its weight as long as they hold: a lead gets or loses the points with its next event. A rule of a deal ruleset has conditions on the deal, and gives its weight as long as they hold: a deal gets or loses the points with the next event that names it. A rule of an account ruleset has conditions on the account, as POST /account-scoring/rules says. ${limits}`,
  body: z.union([inOrder({ ruleset_id: id, ...ruleForm }).meta({ id: 'RuleForm' }), profileRuleForm]),
  responses: { 201: { description: 'Created', schema: z.union([newRule, newProfileRule]) } },
  problems: ['ruleset_not_found', 'limit_reached', 'already_deleted'],
});

export const createEngagementRule = defineRoute({
  name: 'createEngagementRule',
  method: 'POST',
  path: '/engagement-scoring/rules',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Create an engagement rule',
  description:
    "Without ruleset_id the rule goes into the OU's default ruleset, which is made when first needed.",
  body: inOrder({ ruleset_id: id.optional(), ...ruleForm }).meta({ id: 'EngagementRuleForm' }),
  responses: { 201: { description: 'Created', schema: newRule } },
  problems: ['ruleset_not_found', 'limit_reached', 'already_deleted'],
});

export const listRules = defineRoute({
  name: 'listRules',
  method: 'GET',
  path: '/engagement-scoring/rules',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Engagement rules',
  query: z.strictObject({ ruleset_id: id.optional(), event_type: name(100).optional(), ...pageParameters }),
  responses: { 200: { description: 'Rules', schema: page(rule) } },
  problems: [],
});

export const engagementLevel = z.strictObject({ id, ...levelFields }).meta({ id: 'Level' });
export type EngagementLevel = z.infer<typeof engagementLevel>;

const levelForm = inOrder({
  id: id.optional().describe('Keeps the level that has it, or is that of the new one.'),
  ...levelFields,
  min_score: levelFields.min_score.default(null),
  max_score: levelFields.max_score.default(null),
  color: levelFields.color.default(defaultLevelColor),
}).meta({ id: 'LevelForm' });

export const levelList = z.strictObject({ levels: z.array(engagementLevel).max(maximumLevels) });

/** The body of PUT of a list of levels. */
export const levelsForm = z
  .strictObject({
    levels: z.array(levelForm).max(maximumLevels, `must be at most ${String(maximumLevels)} levels`),
  })
  .meta({
    id: 'LevelsForm',
    example: {
      levels: [
        { name: 'Cold', min_score: null, max_score: 9, color: '#4c6ef5' },
        { name: 'Warm', min_score: 10, max_score: 49, color: '#f59f00' },
        { name: 'Hot', min_score: 50, max_score: null, color: '#e8590c' },
      ],
    },
  });

export const listEngagementLevels = defineRoute({
  name: 'listEngagementLevels',
  method: 'GET',
  path: '/engagement-scoring/levels',
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag,
  summary: 'Engagement levels',
  description: 'In the order in which they were set, in the form that PUT takes.',
  responses: { 200: { description: 'Levels', schema: levelList } },
  problems: [],
});

export const setEngagementLevels = defineRoute({
  name: 'setEngagementLevels',
  method: 'PUT',
  path: '/engagement-scoring/levels',
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag,
  summary: 'Replace the engagement levels',
  description:
    'The whole list: a level that is not in it is gone. Bounds are inclusive, and no score may be in two levels (409 `levels_overlap`); it may be in none. A level is what a score is called when it is read: no score changes, and the new levels are in the next answer. A level without `id` keeps the id of the present level of its name.',
  body: levelsForm,
  responses: { 200: { description: 'The levels, with their ids', schema: levelList } },
  problems: ['levels_overlap', 'duplicate_name'],
});

/** The body of the bulk routes of all kinds of rules. */
export const bulkRuleUpdate = z
  .strictObject({
    rule_ids: z
      .array(z.string().max(200))
      .max(500, 'must be at most 500 ids; split a larger set into several calls'),
    updates: z.looseObject({ active: z.boolean().optional() }).meta({ additionalProperties: false }),
  })
  .meta({ id: 'BulkRuleUpdate' });

export const bulkRuleUpdated = z.strictObject({
  updated_count: z.int().min(0).max(500),
  updated_rules: z.array(id).max(500),
});

export const setRulesActive = defineRoute({
  name: 'setRulesActive',
  method: 'PATCH',
  path: '/api/v1/ou/{ouId}/scoring-rules/bulk',
  owner: 'scoring',
  kind: 'command',
  access: { ...editor, organisationUnit: 'path' },
  tag: 'Bulk rule updates',
  summary: 'Switch many engagement rules on or off',
  description:
    'All or nothing: when an id is unknown nothing changes (404). A repeated id counts once. updates may hold `active` only; any other field is 422 and named.',
  parameters: z.strictObject({ ouId: id }),
  body: bulkRuleUpdate,
  responses: { 200: { description: 'Updated', schema: bulkRuleUpdated } },
  problems: ['rule_not_found', 'field_not_allowed', 'limit_reached'],
});
