// One rule and one ruleset: read, changed and deleted, and the versions that a rule has had.
import { z } from 'zod';
import { id, inOrder, page, pageParameters, time } from '../common.js';
import { changesOf } from '../records/rules.js';
import { rulesetScoreType } from '../records/scoring.js';
import { actor } from '../vocabulary/actor.js';
import { attributeFilter } from '../vocabulary/filters.js';
import { defineRoute, editor, viewer } from './route.js';
import { newProfileRule, profileConditions, profileRule } from './profile-rules.js';
import { newRule, rule, ruleForm, ruleset } from './scoring-configuration.js';

const query = { owner: 'scoring', kind: 'query', access: viewer, tag: 'Scoring configuration' } as const;
const command = { owner: 'scoring', kind: 'command', access: editor, tag: 'Scoring configuration' } as const;
const parameters = z.strictObject({ id });

export const getRuleset = defineRoute({
  ...query,
  name: 'getRuleset',
  method: 'GET',
  path: '/rulesets/{id}',
  summary: 'One ruleset',
  parameters,
  responses: { 200: { description: 'The ruleset', schema: ruleset } },
  problems: ['ruleset_not_found'],
});

export const listAllRulesets = defineRoute({
  ...query,
  name: 'listAllRulesets',
  method: 'GET',
  path: '/rulesets',
  summary: 'Rulesets',
  description: 'Of all score types, in the order of their creation.',
  query: z.strictObject({
    score_type: rulesetScoreType.optional().describe('Only rulesets of this type.'),
    ...pageParameters,
  }),
  responses: { 200: { description: 'Rulesets', schema: page(ruleset) } },
  problems: [],
});

export const deleteRuleset = defineRoute({
  ...command,
  name: 'deleteRuleset',
  method: 'DELETE',
  path: '/rulesets/{id}',
  summary: 'Delete a ruleset',
  description:
    'A ruleset that has rules, active or not, is not deleted (409 `ruleset_not_empty`): move its rules to another ruleset or delete them first. Points that were given in it stay, and leads go on naming it. Without a default ruleset, the next rule that names no ruleset makes a new one.',
  parameters,
  responses: { 204: { description: 'Deleted' } },
  problems: ['ruleset_not_found', 'ruleset_not_empty'],
});

export const getRule = defineRoute({
  ...query,
  name: 'getRule',
  method: 'GET',
  path: '/rules/{id}',
  summary: 'One rule, of any kind',
  parameters,
  responses: { 200: { description: 'The rule', schema: z.union([rule, profileRule]) } },
  problems: ['rule_not_found'],
});

export const updateRule = defineRoute({
  ...command,
  name: 'updateRule',
  method: 'PATCH',
  path: '/rules/{id}',
  summary: 'Change a rule of any kind',
  description:
    'Absent fields stay as they are, and null removes an optional field. A change makes a new version, which counts for events that are processed from now on. Points that an engagement rule gave before stay; a profile rule gives or takes points with the next event of each lead, an account rule with the next event of any of its leads, a deal rule with the next event that names the deal. `ruleset_id` moves the rule to another ruleset of the same score type. A rule over conditions has `ruleset_id`, `conditions`, `weight`, `label` and `active`; an engagement rule has no `conditions`. A body that changes nothing makes no version.',
  parameters,
  body: inOrder({
    ruleset_id: id.optional(),
    ...changesOf(ruleForm),
    active: z.boolean().optional(),
    conditions: profileConditions.optional(),
  })
    .refine((body) => Object.values(body).some((value) => value !== undefined), 'must hold a field to change')
    .meta({ id: 'RuleChange', minProperties: 1, example: { weight: 15, ends_at: null } }),
  responses: { 200: { description: 'The rule with the change', schema: z.union([newRule, newProfileRule]) } },
  problems: ['rule_not_found', 'ruleset_not_found', 'limit_reached'],
});

export const deleteRule = defineRoute({
  ...command,
  name: 'deleteRule',
  method: 'DELETE',
  path: '/rules/{id}',
  summary: 'Delete a rule of any kind',
  description:
    'Gives no points from now on, and counts no more in limits. Points that it gave stay, and explanations go on naming it; its history stays readable. To stop a rule for a time, PATCH it with `active` false.',
  parameters,
  responses: { 204: { description: 'Deleted' } },
  problems: ['rule_not_found'],
});

/** A value that a field of a rule has had. */
const fieldValue = z.union([
  z.string().max(200),
  z.int(),
  z.boolean(),
  z.array(attributeFilter).max(20),
  z.null(),
]);
export type RuleFieldValue = z.infer<typeof fieldValue>;

export const ruleVersion = z
  .strictObject({
    version: z.int().min(1),
    change: z.enum(['created', 'changed', 'deleted']),
    changed_at: time,
    changed_by: actor.optional().describe('Who made the change, where it is known.'),
    fields: z
      .array(z.strictObject({ field: z.string().max(50), before: fieldValue, after: fieldValue }))
      .max(50)
      .describe('The fields that the change concerned; null where the rule had no such field.'),
    leads_moved: z
      .int()
      .min(0)
      .describe(
        'Leads whose score the rule has changed since this version came, by it and by later versions; of an account rule the accounts. A deal rule changes the deal scores of the leads that named the deal; a change with more than 50 reasons names no rule, and counts none. Deleted leads and accounts stay counted. A decision counts within some ten seconds.',
      ),
    leads_moved_is_estimate: z
      .boolean()
      .describe('Large numbers are estimates, with a standard error of at most 1.6 %.'),
  })
  .meta({ id: 'RuleVersion' });
export type RuleVersion = z.infer<typeof ruleVersion>;

export const listRuleVersions = defineRoute({
  ...query,
  name: 'listRuleVersions',
  method: 'GET',
  path: '/rules/{id}/history',
  summary: 'The versions of a rule',
  description:
    'Newest first: who changed the rule and when, and each changed field before and after. The history of a deleted rule stays readable.',
  parameters,
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Versions', schema: page(ruleVersion) } },
  problems: ['rule_not_found'],
});
