// Limits: of one credential, and of all credentials of the organisation together.
import { z } from 'zod';
import { id, someField } from '../common.js';
import { rateLimit } from '../records/gateway.js';
import { organisationRateLimit, quotas, warningChannel } from '../records/limits.js';
import { serviceAccount, token } from './administration.js';
import { admin, defineRoute } from './route.js';

const ofOrganisation = { ...admin, organisationUnit: 'none' } as const;

const { calls_per_day, calls_per_month, events_per_day, events_per_month } = quotas.shape;
const quotaChange = z
  .strictObject({
    calls_per_day: calls_per_day.default(null),
    calls_per_month: calls_per_month.default(null),
    events_per_day: events_per_day.default(null),
    events_per_month: events_per_month.default(null),
  })
  .nullable()
  .optional()
  .describe(
    'Replaces all of them: the most API calls and sent events of a day and of a month, in UTC. null: no quota.',
  );

const warningChannelChange = warningChannel.nullable().optional();

const credentialChange = z
  .strictObject({
    rate_limit: rateLimit
      .nullable()
      .optional()
      .describe(
        'null: the standard limit, or that of the calling credential where it is lower. At most the limit of the calling credential, and that of the organisation.',
      ),
    quotas: quotaChange,
    warning_channel: warningChannelChange.describe(
      'The notification channel that gets a message when 80 % of a quota of this credential are used, once for each quota and period, and again at 80 % of a quota that was raised. It may be of any OU that the caller may use. null: the one that PATCH /settings/limits has set, if any.',
    ),
  })
  .refine(...someField)
  .meta({ id: 'CredentialChange', minProperties: 1 });

/** Refusals of a limit, and of a warning channel that does not exist. */
const limitProblems = [
  'rate_limit_not_allowed',
  'org_unit_not_found',
  'notification_channel_not_found',
] as const;

const countsSoon = 'Fields that are absent stay. The change counts in every gateway within ten seconds.';

export const changeToken = defineRoute({
  name: 'changeToken',
  method: 'PATCH',
  path: '/settings/tokens/{id}',
  owner: 'gateway',
  kind: 'command',
  access: admin,
  tag: 'Admin',
  summary: 'Change the limit and the quotas of a personal access token of any member',
  description: countsSoon,
  parameters: z.strictObject({ id }),
  body: credentialChange,
  responses: { 200: { description: 'Changed', schema: token } },
  problems: ['token_not_found', ...limitProblems],
});

export const changeServiceAccount = defineRoute({
  name: 'changeServiceAccount',
  method: 'PATCH',
  path: '/secrets/{id}',
  owner: 'gateway',
  kind: 'command',
  access: admin,
  tag: 'Admin',
  summary: 'Change the limit and the quotas of a service account',
  description: countsSoon,
  parameters: z.strictObject({ id }),
  body: credentialChange,
  responses: { 200: { description: 'Changed', schema: serviceAccount } },
  problems: ['service_account_not_found', ...limitProblems],
});

export const organisationLimits = z
  .strictObject({
    rate_limit: organisationRateLimit.nullable().describe('As an admin has set it; null: it was not set.'),
    effective_rate_limit: organisationRateLimit.describe(
      'The limit in force: the one that was set, or the one of the system’s configuration, which is also the largest that can be set.',
    ),
    quotas: quotas.nullable().describe('null: none.'),
    warning_channel: warningChannel
      .nullable()
      .describe('The notification channel that is told when 80 % of a quota are used; null: none.'),
  })
  .meta({ id: 'OrganisationLimits' });
export type OrganisationLimits = z.output<typeof organisationLimits>;

export const getLimits = defineRoute({
  name: 'getLimits',
  method: 'GET',
  path: '/settings/limits',
  owner: 'gateway',
  kind: 'local',
  access: ofOrganisation,
  tag: 'Admin',
  summary: 'Limits and quotas of all credentials of the organisation together',
  responses: { 200: { description: 'Limits', schema: organisationLimits } },
  problems: [],
});

export const changeLimits = defineRoute({
  name: 'changeLimits',
  method: 'PATCH',
  path: '/settings/limits',
  owner: 'gateway',
  kind: 'command',
  access: ofOrganisation,
  tag: 'Admin',
  summary: 'Change the limits and quotas of all credentials of the organisation together',
  description: `${countsSoon} Only a credential for every OU may do this.`,
  body: z
    .strictObject({
      rate_limit: organisationRateLimit
        .nullable()
        .optional()
        .describe('At most that of the system’s configuration; null: that one.'),
      quotas: quotaChange,
      warning_channel: warningChannelChange.describe(
        'The notification channel that gets a message when 80 % of a quota are used, once for each quota and period, and again at 80 % of a quota that was raised: of these quotas, and of those of credentials without a channel of their own. null: none.',
      ),
    })
    .refine(...someField)
    .meta({ id: 'OrganisationLimitsChange', minProperties: 1 }),
  responses: { 200: { description: 'Changed', schema: organisationLimits } },
  problems: ['org_unit_not_allowed', ...limitProblems],
});
