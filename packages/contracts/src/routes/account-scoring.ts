// Account scoring: rules over accounts, the roll-up of the leads' scores, and tests of rules.
import { z } from 'zod';
import { id, name, page, pageParameters } from '../common.js';
import { profileRuleFields } from '../records/profile-scoring.js';
import { rollUp, rollUpMethods } from '../vocabulary/accounts.js';
import { attributeFilterForms } from '../vocabulary/filter-forms.js';
import { profileField, profileValue } from '../vocabulary/profile.js';
import { newProfileRule, profileRule } from './profile-rules.js';
import { maximumDrafts, testedRules } from './profile-scoring.js';
import { defineRoute, editor, viewer } from './route.js';
import { bulkRuleUpdate, bulkRuleUpdated, levelList, levelsForm, ruleset } from './scoring-configuration.js';

const shared = { owner: 'scoring', tag: 'Scoring configuration' } as const;

/** Conditions on the fields of an account. */
export const accountConditions = attributeFilterForms
  .min(1, 'must hold at least one condition')
  .describe(
    'Conditions on the fields of the account; all must hold. Every account has name, key, leads (how many) and leads_score (the points of their roll-up), and those found by a domain have domain; further fields are those that events give in metadata.account.',
  );

export const listAccountRulesets = defineRoute({
  ...shared,
  name: 'listAccountRulesets',
  method: 'GET',
  path: '/account-scoring/rulesets',
  kind: 'query',
  access: viewer,
  summary: 'Account rulesets',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Rulesets', schema: page(ruleset) } },
  problems: [],
});

export const listAccountRules = defineRoute({
  ...shared,
  name: 'listAccountRules',
  method: 'GET',
  path: '/account-scoring/rules',
  kind: 'query',
  access: viewer,
  summary: 'Account rules',
  query: z.strictObject({ ruleset_id: id.optional(), ...pageParameters }),
  responses: { 200: { description: 'Rules', schema: page(profileRule) } },
  problems: [],
});

export const createAccountRule = defineRoute({
  ...shared,
  name: 'createAccountRule',
  method: 'POST',
  path: '/account-scoring/rules',
  kind: 'command',
  access: editor,
  summary: 'Create an account rule',
  description:
    'Gives its weight to an account as long as the conditions hold: an account gets or loses the points with the next event of any of its leads. GET, PATCH and DELETE /rules/{id} read, change and delete the rule.',
  body: z
    .strictObject({
      ruleset_id: id.describe('A ruleset with score_type account.'),
      conditions: accountConditions,
      ...profileRuleFields,
      weight: profileRuleFields.weight.describe('Points of an account that meets all conditions; not 0.'),
    })
    .meta({
      id: 'AccountRuleForm',
      example: {
        ruleset_id: '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e',
        conditions: [{ field: 'leads', operator: 'gte', value: 3 }],
        weight: 25,
        label: 'Several people are interested',
      },
    }),
  responses: { 201: { description: 'Created', schema: newProfileRule } },
  problems: ['ruleset_not_found', 'limit_reached', 'already_deleted'],
});

export const setAccountRulesActive = defineRoute({
  ...shared,
  name: 'setAccountRulesActive',
  method: 'PATCH',
  path: '/api/v1/ou/{ouId}/account-rules/bulk',
  kind: 'command',
  access: { ...editor, organisationUnit: 'path' },
  tag: 'Bulk rule updates',
  summary: 'Switch many account rules on or off',
  description:
    'All or nothing: when an id is unknown, or is that of a rule of another kind, nothing changes (404). A repeated id counts once. updates may hold `active` only; any other field is 422 and named.',
  parameters: z.strictObject({ ouId: id }),
  body: bulkRuleUpdate,
  responses: { 200: { description: 'Updated', schema: bulkRuleUpdated } },
  problems: ['rule_not_found', 'field_not_allowed', 'limit_reached'],
});

/** A roll-up as requests send it. */
export const rollUpForm = z
  .strictObject({ method: z.enum(rollUpMethods), leads: rollUp.shape.leads })
  .refine(({ method, leads }) => (method === 'top') === (leads !== undefined), {
    path: ['leads'],
    error: 'must be there for top, and for no other method',
  })
  .meta({ id: 'AccountRollUpForm', example: { method: 'top', leads: 3 } });

const rollUpAnswer = z.strictObject({
  roll_up: rollUp.describe('sum until it is set.'),
});

export const getAccountRollUp = defineRoute({
  ...shared,
  name: 'getAccountRollUp',
  method: 'GET',
  path: '/account-scoring/roll-up',
  kind: 'query',
  access: viewer,
  summary: "How the leads' scores make points of their account",
  responses: { 200: { description: 'The roll-up, in the form that PUT takes', schema: rollUpAnswer } },
  problems: [],
});

export const setAccountRollUp = defineRoute({
  ...shared,
  name: 'setAccountRollUp',
  method: 'PUT',
  path: '/account-scoring/roll-up',
  kind: 'command',
  access: editor,
  summary: "Choose how the leads' scores make points of their account",
  description:
    'Switches account scoring on, like the first account ruleset; `none` without an active account ruleset switches it off. Leads count in their account from their next event on, and a new roll-up counts for an account from the next event of any of its leads on. max and top are exact for scores of leads up to 1,023, and within 0.2 % above.',
  body: z
    .strictObject({
      roll_up: rollUpForm,
    })
    .meta({ id: 'AccountRollUpChange', example: { roll_up: { method: 'sum' } } }),
  responses: { 200: { description: 'The roll-up', schema: rollUpAnswer } },
  problems: [],
});

export const listAccountLevels = defineRoute({
  ...shared,
  name: 'listAccountLevels',
  method: 'GET',
  path: '/account-scoring/levels',
  kind: 'query',
  access: viewer,
  summary: 'Account levels',
  description: 'In the order in which they were set, in the form that PUT takes.',
  responses: { 200: { description: 'Levels', schema: levelList } },
  problems: [],
});

export const setAccountLevels = defineRoute({
  ...shared,
  name: 'setAccountLevels',
  method: 'PUT',
  path: '/account-scoring/levels',
  kind: 'command',
  access: editor,
  summary: 'Replace the account levels',
  description:
    'Names for ranges of scores of accounts, with the rules of PUT /engagement-scoring/levels. No score changes, and the new levels are in the next answer. No trigger watches them.',
  body: levelsForm,
  responses: { 200: { description: 'The levels, with their ids', schema: levelList } },
  problems: ['levels_overlap', 'duplicate_name'],
});

export const testAccount = defineRoute({
  ...shared,
  name: 'testAccount',
  method: 'POST',
  path: '/account-scoring/test',
  kind: 'query',
  access: viewer,
  summary: 'Test the account rules on a sample or on an account',
  description:
    'Says for each account rule, and for each draft, whether it matches and why. Nothing is stored. The fields are those of the account, then those of `account`, which take the place of others of their name.',
  body: z
    .strictObject({
      account_id: id.optional().describe('An account of this organizational unit.'),
      account: z
        .record(profileField, profileValue)
        .refine((values) => Object.keys(values).length <= 100, 'must hold at most 100 fields')
        .optional()
        .meta({ description: 'Values by field.', maxProperties: 100 }),
      rules: z
        .array(
          z
            .strictObject({
              conditions: accountConditions,
              weight: profileRuleFields.weight,
              label: name(100).optional(),
            })
            .meta({ id: 'DraftAccountRule' }),
        )
        .max(maximumDrafts)
        .optional()
        .describe('Drafts to be tested beside the rules.'),
    })
    .refine(
      ({ account_id, account }) => account_id !== undefined || account !== undefined,
      'must hold account_id or account',
    )
    .meta({
      id: 'AccountTestForm',
      anyOf: [{ required: ['account_id'] }, { required: ['account'] }],
      example: { account: { domain: 'acme.example', leads: 3 } },
    }),
  responses: {
    200: {
      description: 'The points, and each rule with the reason',
      schema: z
        .strictObject({
          ...testedRules('account'),
          account: z.record(z.string().max(200), profileValue).describe('Values by field.'),
        })
        .meta({ id: 'AccountTest' }),
    },
  },
  problems: ['account_not_found'],
});
export type AccountTest = z.infer<(typeof testAccount)['responses'][200]['schema']>;
