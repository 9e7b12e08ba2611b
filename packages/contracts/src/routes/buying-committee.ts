// The buying committee of an account: its leads by role, the engagement of each, and the roles that no lead has.
import { z } from 'zod';
import { id, integerParameter, score, time } from '../common.js';
import { accountIdentity } from '../vocabulary/accounts.js';
import { committeeLimits, committeeRoles, usualSilentDays } from '../vocabulary/committee.js';
import { leadLevel } from './leads.js';
import { defineRoute, viewer } from './route.js';

const committeeLead = z
  .strictObject({
    lead_id: id,
    name: z.string().max(512),
    title: z.string().max(200).nullable(),
    matched: z
      .string()
      .max(100)
      .nullable()
      .describe('The words of the title, abbreviations written out, that say the role; null: none does.'),
    score: score.describe('The engagement score.'),
    level: leadLevel.nullable(),
    last_activity_at: time,
    engagement: z.enum(['active', 'silent']).describe('silent: no event within `silent_days`.'),
  })
  .meta({ id: 'CommitteeLead' });

const members = {
  leads: z.int().min(0),
  active: z.int().min(0).describe('Leads with an event within `silent_days`.'),
  last_activity_at: time.nullable().describe('null: there are no leads.'),
  data: z
    .array(committeeLead)
    .max(committeeLimits.shown)
    .describe(`The leads with the highest scores, at most ${String(committeeLimits.shown)}.`),
};

const role = z.enum(committeeRoles);

export const buyingCommittee = z
  .strictObject({
    account_id: id,
    name: z.string().max(500),
    ...accountIdentity,
    leads: z.int().min(0).describe('Leads that count in the account.'),
    leads_considered: z
      .int()
      .min(0)
      .max(committeeLimits.leads)
      .describe(
        `Those that this answer is made of: the ones with the highest scores, at most ${String(committeeLimits.leads)}.`,
      ),
    silent_days: z.int(),
    roles: z
      .array(z.strictObject({ role, status: z.enum(['engaged', 'silent', 'missing']), ...members }))
      .length(committeeRoles.length)
      .describe(
        'Every role. engaged: a lead of it is active. silent: it has leads, and none is active. missing: it has none.',
      ),
    other: z.strictObject(members).describe('Leads without a title, or with one that says no role.'),
    gaps: z
      .array(z.strictObject({ role, gap: z.enum(['missing', 'silent']), text: z.string().max(200) }))
      .max(committeeRoles.length)
      .describe('The roles that nobody active has.'),
  })
  .meta({ id: 'BuyingCommittee' });
export type BuyingCommittee = z.infer<typeof buyingCommittee>;

export const getBuyingCommittee = defineRoute({
  owner: 'scoring',
  kind: 'query',
  access: viewer,
  tag: 'Accounts',
  name: 'getBuyingCommittee',
  method: 'GET',
  path: '/buying-committee',
  summary: 'The people of an account by their role in a purchase, and the roles that are missing',
  description:
    'A role follows from the English title alone, by a fixed table: counsel and compliance are legal; CFO, finance and accounting finance; CTO, engineers, IT and security technical; purchasing and sourcing procurement; founders, chief officers, presidents, VPs, directors and heads decision_maker; managers, leads and consultants champion; analysts, specialists, coordinators and assistants user. A function comes before a rank: a VP Finance is finance. `matched` says which words decided.',
  query: z.strictObject({
    account_id: id.describe('The id of an account: GET /accounts lists them.'),
    silent_days: integerParameter(1, 3_650)
      .default(usualSilentDays)
      .describe(
        `Days of 24 hours without an event after which a lead is silent. Default: ${String(usualSilentDays)}.`,
      )
      .meta({ default: usualSilentDays }),
  }),
  responses: { 200: { description: 'The committee', schema: buyingCommittee } },
  problems: ['account_not_found'],
});
