// Commands and events of limits: what one credential, and all credentials of an organisation together, may use.
import { z } from 'zod';
import { id, wholeNumber } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { rateLimit } from './gateway.js';
import { defineRecord, type PayloadOf } from './record.js';

/** A token bucket over all credentials of an organisation. */
export const organisationRateLimit = z
  .strictObject({
    per_minute: wholeNumber(1, 10_000_000),
    burst: wholeNumber(1, 10_000_000),
  })
  .describe('Requests of all credentials of the organisation together.');

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
    ...happened,
  }),
});

export const limitRecords = [
  limitCredential,
  limitOrganisation,
  credentialLimited,
  organisationLimited,
] as const;
