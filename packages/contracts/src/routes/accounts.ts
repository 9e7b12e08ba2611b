// Accounts with their scores, and the reasons for them.
import { z } from 'zod';
import {
  cursorParameter,
  id,
  inOrder,
  integerParameter,
  name,
  numberParameter,
  page,
  pageParameters,
  score,
  time,
  timeParameter,
} from '../common.js';
import { accountIdentity, accountLimits, rollUp } from '../vocabulary/accounts.js';
import { profileValue } from '../vocabulary/profile.js';
import { leadLevel } from './leads.js';
import { heldByRulesets } from './profile-scoring.js';
import { defineRoute, editor, viewer } from './route.js';

const shared = { owner: 'scoring', kind: 'query', access: viewer, tag: 'Accounts' } as const;

const accountFields = {
  id,
  name: z.string().max(500).describe('The latest name or company that events gave, else the key.'),
  ...accountIdentity,
  score,
  level: leadLevel
    .nullable()
    .describe('The account level that the score is in, by the levels of now; null when it is in none.'),
  leads: z.int().min(1).describe('Leads that count in it.'),
  last_activity_at: time.describe(
    'The time of the latest event of its leads. One that changes nothing for the account is noted with the next that does.',
  ),
  created_at: time.describe('When the first lead came to count in it.'),
  updated_at: time.describe('The time of the last decision on it.'),
};

export const account = z.strictObject(accountFields).meta({ id: 'Account' });
export type Account = z.infer<typeof account>;

const bound = numberParameter(-2_147_483_648, 2_147_483_647);

/** The orders of the list of accounts. */
export const accountSorts = [
  ...(['score', '-score', 'leads', '-leads', 'last_activity_at', '-last_activity_at'] as const),
  ...(['created_at', '-created_at', 'name', '-name'] as const),
] as const;

export const listAccounts = defineRoute({
  ...shared,
  name: 'listAccounts',
  method: 'GET',
  path: '/accounts',
  summary: 'Accounts with their scores, highest first',
  description:
    "A lead counts in the account of its first e-mail address that is not of a free-mail provider, or in the account that the latest of its events named: metadata.account is a domain, a key of your own, or an object with `domain` or `id` beside further fields of the account. Accounts are there once account scoring is configured, each from its leads' next events on.",
  query: inOrder({
    min_score: bound.optional(),
    max_score: bound.optional(),
    level: name(100)
      .optional()
      .describe(
        'Id or name of an account level: accounts whose score is in it, and within the other bounds.',
      ),
    q: name(200).optional().describe('Text within name or key.'),
    account_kind: accountIdentity.account_kind.optional().describe('How the accounts are named.'),
    min_leads: integerParameter(1, 1_000_000_000)
      .optional()
      .describe('Accounts with at least so many leads.'),
    active_since: timeParameter.optional().describe('Accounts with activity since then.'),
    sort: z.enum(accountSorts).default('-score').describe('A minus in front: descending.'),
    ...pageParameters,
    cursor: cursorParameter,
  }),
  responses: { 200: { description: 'Accounts', schema: page(account) } },
  problems: ['level_not_found'],
});

/** The most leads in the answer about an account. */
export const shownAccountLeads = 25;

export const getAccount = defineRoute({
  ...shared,
  name: 'getAccount',
  method: 'GET',
  path: '/accounts/{id}',
  summary: 'An account, its score and why it has it',
  description: 'The id of an account that was merged answers the account into which it was merged.',
  parameters: z.strictObject({ id }),
  responses: {
    200: {
      description: 'The account',
      schema: z
        .strictObject({
          ...accountFields,
          fields: z
            .record(z.string().max(50), profileValue)
            .describe(`Values that events gave, at most ${String(accountLimits.fields)}.`),
          roll_up: rollUp.extend({ points: z.int().describe('What the scores of the leads give.') }),
          rules: z
            .array(
              z.strictObject({
                rule_id: id,
                rule_version: z.int().min(1),
                ruleset_id: id,
                label: z.string().max(100).optional(),
                filter_label: z.string().max(50_000).optional(),
                points: z.int(),
              }),
            )
            .max(5_000)
            .describe('The rules that give it points, in the order in which they began to match.'),
          held: heldByRulesets,
          top_leads: z
            .array(z.strictObject({ lead_id: id, name: z.string().max(512), score }))
            .max(shownAccountLeads)
            .describe('The leads with the highest scores.'),
          unattributed: z
            .int()
            .describe(
              'The score minus the points of the roll-up, of the rules and those that limits hold: always 0.',
            ),
          configuration_version: z.int().min(0).describe('The version that made the last decision.'),
        })
        .meta({ id: 'AccountWithReasons' }),
    },
  },
  problems: ['account_not_found'],
});
export type AccountWithReasons = z.infer<(typeof getAccount)['responses'][200]['schema']>;

export const mergeAccounts = defineRoute({
  owner: 'scoring',
  kind: 'command',
  access: editor,
  tag: 'Accounts',
  name: 'mergeAccounts',
  method: 'POST',
  path: '/accounts/{id}/merge',
  summary: 'Make an account part of another',
  description:
    'The leads of the account move to the target within moments, and later events that name the account, or come from its domain, count in the target. The fields of the target stay its own. The points of the target follow from all of its leads; no trigger fires because of the move, and firings for the merged account are erased with it. A merge that is asked for again answers as the first time. Merges are kept for ever.',
  parameters: z.strictObject({ id }),
  body: z.strictObject({ target_id: id }).meta({ id: 'AccountMergeForm' }),
  responses: {
    200: {
      description: 'What the target gets, as of the request',
      schema: z
        .strictObject({
          leads_reassigned: z.int().min(0).describe('Leads of the account.'),
          deals_reassigned: z.int().min(0).describe('Deals that events of these leads have named.'),
        })
        .meta({ id: 'AccountMerge' }),
    },
  },
  problems: ['account_not_found', 'already_merged', 'limit_reached'],
});
