// Commands and events of limits: what one credential, and all credentials of an organisation together, may use.
import { z } from 'zod';
import { id, time, wholeNumber } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { quotaNames } from '../vocabulary/quotas.js';
import { rateLimit } from './gateway.js';
import { defineRecord, type PayloadOf } from './record.js';

/** A token bucket over all credentials of an organisation. */
export const organisationRateLimit = z
  .strictObject({
    per_minute: wholeNumber(1, 10_000_000),
    burst: wholeNumber(1, 10_000_000),
  })
  .describe('Requests of all credentials of the organisation together.');

export { quotaNames, type QuotaName } from '../vocabulary/quotas.js';

const quota = wholeNumber(1, 1_000_000_000_000).nullable();

/** The most calls and events of a day and of a month, in UTC; null: no quota. */
export const quotas = z
  .strictObject({
    calls_per_day: quota,
    calls_per_month: quota,
    events_per_day: quota,
    events_per_month: quota,
  })
  .describe(
    'The most API calls and sent events of a day and of a month, in UTC; null: as many as the rate limit lets in.',
  );
export type Quotas = z.infer<typeof quotas>;

/** The notification channel that is told when 80 % of a quota are used, and the OU that it belongs to. */
export const warningChannel = z
  .strictObject({ ou_id: id.describe('The OU that the channel belongs to.'), channel_id: id })
  .meta({ id: 'WarningChannel' });
export type WarningChannel = z.infer<typeof warningChannel>;

const setQuotas = {
  quotas: quotas.nullable().optional().describe('null: none.'),
  warning_channel: warningChannel.nullable().optional().describe('null: none.'),
};

const organisation = { organisation_id: id };
const onOrganisation = { topic: 'gateway.commands', key: 'organisation_id' } as const;
const ofOrganisation = { topic: 'gateway.events', key: 'organisation_id' } as const;

export const limitCredential = defineRecord({
  ...onOrganisation,
  type: 'LimitCredential',
  description: 'Give a token or service account another limit; fields that are absent stay.',
  schema: z.strictObject({
    ...organisation,
    kind: z.enum(['token', 'service_account']),
    credential_id: id,
    rate_limit: rateLimit.nullable().optional().describe('null: the standard limit.'),
    ...setQuotas,
    standard_rate_limit: rateLimit,
    organisation_rate_limit: organisationRateLimit.describe(
      'The configured limit of the organisation, for one without a limit of its own.',
    ),
    ou_id: id.describe('The OU that the requester works in.'),
    requested_by: id,
    ...requested,
  }),
});

export type LimitCredential = PayloadOf<typeof limitCredential>;

export const limitOrganisation = defineRecord({
  ...onOrganisation,
  type: 'LimitOrganisation',
  description: 'Give all credentials of an organisation together another limit; fields that are absent stay.',
  schema: z.strictObject({
    ...organisation,
    rate_limit: organisationRateLimit.nullable().optional().describe('null: the configured limit.'),
    ...setQuotas,
    organisation_rate_limit: organisationRateLimit.describe('The configured limit, which is the largest.'),
    requested_by: id,
    ...requested,
  }),
});

export const credentialLimited = defineRecord({
  ...ofOrganisation,
  type: 'CredentialLimited',
  description: 'A token or service account has these limits from now on.',
  schema: z.strictObject({
    ...organisation,
    credential_id: id,
    rate_limit: rateLimit.nullable().describe('null: the standard limit.'),
    ...setQuotas,
    ...happened,
  }),
});

export const organisationLimited = defineRecord({
  ...ofOrganisation,
  type: 'OrganisationLimited',
  description: 'All credentials of the organisation together have these limits from now on.',
  schema: z.strictObject({
    ...organisation,
    rate_limit: organisationRateLimit.nullable().describe('null: the configured limit.'),
    ...setQuotas,
    ...happened,
  }),
});

/** A quota of which much is used, and the period in which it is. */
const usedQuota = {
  credential_id: id.nullable().describe('Whose the quota is; null: the organisation’s.'),
  quota: z.enum(quotaNames),
  period: time.describe('The beginning of the day or month, in UTC.'),
  limit: z.int().min(1),
  used: z.int().min(0),
};

export const warnOfQuota = defineRecord({
  ...onOrganisation,
  type: 'WarnOfQuota',
  description:
    'Record that 80 % of a quota are used. Sent by a gateway that has seen it; others may send it too.',
  schema: z.strictObject({ ...organisation, ...usedQuota, ...requested }),
});

export const quotaNearlyUsed = defineRecord({
  ...ofOrganisation,
  type: 'QuotaNearlyUsed',
  description:
    '80 % of a quota are used. Recorded once for each quota and period, and again at 80 % of a quota that was raised since.',
  schema: z.strictObject({ ...organisation, ...usedQuota, ...happened }),
});

export type QuotaNearlyUsed = PayloadOf<typeof quotaNearlyUsed>;

export const limitRecords = [
  warnOfQuota,
  quotaNearlyUsed,
  limitCredential,
  limitOrganisation,
  credentialLimited,
  organisationLimited,
] as const;
