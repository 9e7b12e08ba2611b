// Commands and events of the gateway: organisations, organizational units, and the credentials that may use them.
import { z } from 'zod';
import { id, name, time, wholeNumber } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { defineRecord } from './record.js';

export const role = z
  .enum(['viewer', 'editor', 'admin'])
  .describe('viewer reads and shares, editor writes, admin manages members and service accounts.');
export type Role = z.infer<typeof role>;

export const scope = z
  .enum(['ingest', 'read', 'write', 'admin'])
  .describe('ingest sends events only; read and write as viewer and editor; admin manages credentials.');
export type Scope = z.infer<typeof scope>;

/** A token bucket that holds `burst` requests and refills at `per_minute`. */
export const rateLimit = z
  .strictObject({
    per_minute: wholeNumber(1, 1_000_000),
    burst: wholeNumber(1, 1_000_000),
  })
  .describe('Default: 100 a minute, 200 at once. At most what the creator of the credential has.');

export const secretHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the secret.');
export const lastFour = z.string().length(4);

const organisation = { organisation_id: id };

/** The limit for credentials without one of their own, as configured in the gateway that wrote the command. */
const standardRateLimit = { standard_rate_limit: rateLimit.optional() };

/**
 * A request to end or rotate a credential: the requester and the OU that it works in. A credential that either of them
 * may not manage is answered as not found.
 */
const management = { ou_id: id, requested_by: id, ...requested };

export const bootstrapOrganisation = defineRecord({
  type: 'BootstrapOrganisation',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'Create the first organisation with one OU and an administrator’s token, unless it exists.',
  schema: z.strictObject({
    ...organisation,
    name: name(100),
    ou_id: id,
    ou_name: name(100),
    token_id: id,
    token_hash: secretHash,
    token_last_four: lastFour,
    token_rate_limit: rateLimit.optional(),
    ...requested,
  }),
});

export const createOrgUnit = defineRecord({
  type: 'CreateOrgUnit',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'Create an organizational unit.',
  schema: z.strictObject({ ...organisation, ou_id: id, name: name(100), created_by: id, ...requested }),
});

export const renameOrgUnit = defineRecord({
  type: 'RenameOrgUnit',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'Give an organizational unit another name.',
  schema: z.strictObject({ ...organisation, ou_id: id, name: name(100), requested_by: id, ...requested }),
});

export const endOrgUnit = defineRecord({
  type: 'EndOrgUnit',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'End an organizational unit, for good.',
  schema: z.strictObject({ ...organisation, ou_id: id, requested_by: id, ...requested }),
});

export const setActiveOrgUnit = defineRecord({
  type: 'SetActiveOrgUnit',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: "Set a credential's active OU.",
  schema: z.strictObject({ ...organisation, credential_id: id, ou_id: id, ...requested }),
});

const tokenFields = {
  token_id: id,
  name: name(100),
  token_hash: secretHash,
  last_four: lastFour,
  role,
  ou_ids: z
    .array(id)
    .min(1)
    .max(200)
    .nullable()
    .describe('null: every OU of the organisation, also later ones.'),
  expires_at: time.nullable(),
  rate_limit: rateLimit.nullable(),
  created_by: id,
};

export const createToken = defineRecord({
  type: 'CreateToken',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'Create a personal access token.',
  schema: z.strictObject({ ...organisation, ...tokenFields, ...standardRateLimit, ...requested }),
});

export const revokeToken = defineRecord({
  type: 'RevokeToken',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'End a personal access token.',
  schema: z.strictObject({ ...organisation, token_id: id, ...management }),
});

const serviceAccountFields = {
  client_id: id,
  name: name(100),
  secret_hash: secretHash,
  last_four: lastFour,
  scopes: z.array(scope).min(1).max(4),
  ou_ids: z.array(id).min(1).max(200).nullable(),
  rate_limit: rateLimit.nullable(),
  created_by: id,
};

export const createServiceAccount = defineRecord({
  type: 'CreateServiceAccount',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'Create a service account.',
  schema: z.strictObject({ ...organisation, ...serviceAccountFields, ...standardRateLimit, ...requested }),
});

export const rotateServiceAccountSecret = defineRecord({
  type: 'RotateServiceAccountSecret',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'Give a service account another secret; the old one stays valid for 24 hours.',
  schema: z.strictObject({
    ...organisation,
    client_id: id,
    secret_hash: secretHash,
    last_four: lastFour,
    ...management,
  }),
});

export const revokeServiceAccount = defineRecord({
  type: 'RevokeServiceAccount',
  topic: 'gateway.commands',
  key: 'organisation_id',
  description: 'End a service account.',
  schema: z.strictObject({ ...organisation, client_id: id, ...management }),
});

export const organisationCreated = defineRecord({
  type: 'OrganisationCreated',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'An organisation exists.',
  schema: z.strictObject({ ...organisation, name: name(100), ...happened }),
});

export const orgUnitCreated = defineRecord({
  type: 'OrgUnitCreated',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'An organizational unit exists.',
  schema: z.strictObject({ ...organisation, ou_id: id, name: name(100), created_by: id, ...happened }),
});

export const orgUnitRenamed = defineRecord({
  type: 'OrgUnitRenamed',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'An organizational unit has another name.',
  schema: z.strictObject({ ...organisation, ou_id: id, name: name(100), ...happened }),
});

export const orgUnitEnded = defineRecord({
  type: 'OrgUnitEnded',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'An organizational unit takes and shows nothing any more.',
  schema: z.strictObject({ ...organisation, ou_id: id, ...happened }),
});

export const activeOrgUnitSet = defineRecord({
  type: 'ActiveOrgUnitSet',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'A credential works in this OU from now on.',
  schema: z.strictObject({ ...organisation, credential_id: id, ou_id: id, ...happened }),
});

export const orgUnitGranted = defineRecord({
  type: 'OrgUnitGranted',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'A credential that is limited to some OUs may use this one as well: it made it.',
  schema: z.strictObject({ ...organisation, credential_id: id, ou_id: id, ...happened }),
});

export const orgUnitWithdrawn = defineRecord({
  type: 'OrgUnitWithdrawn',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'A credential that is limited to some OUs may no longer use this one: it has ended.',
  schema: z.strictObject({ ...organisation, credential_id: id, ou_id: id, ...happened }),
});

export const tokenCreated = defineRecord({
  type: 'TokenCreated',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'A personal access token exists.',
  schema: z.strictObject({
    ...organisation,
    ...tokenFields,
    member_id: id.optional().describe('Whose it is; absent: the built-in member’s.'),
    ...happened,
  }),
});

export const tokenRevoked = defineRecord({
  type: 'TokenRevoked',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'A personal access token is no longer valid.',
  schema: z.strictObject({ ...organisation, token_id: id, ...happened }),
});

export const serviceAccountCreated = defineRecord({
  type: 'ServiceAccountCreated',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'A service account exists.',
  schema: z.strictObject({ ...organisation, ...serviceAccountFields, ...happened }),
});

export const serviceAccountSecretRotated = defineRecord({
  type: 'ServiceAccountSecretRotated',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'A service account has another secret.',
  schema: z.strictObject({
    ...organisation,
    client_id: id,
    secret_hash: secretHash,
    last_four: lastFour,
    previous_valid_until: time,
    ...happened,
  }),
});

export const serviceAccountRevoked = defineRecord({
  type: 'ServiceAccountRevoked',
  topic: 'gateway.events',
  key: 'organisation_id',
  description: 'A service account is no longer valid.',
  schema: z.strictObject({ ...organisation, client_id: id, ...happened }),
});

export const gatewayRecords = [
  bootstrapOrganisation,
  createOrgUnit,
  renameOrgUnit,
  endOrgUnit,
  setActiveOrgUnit,
  createToken,
  revokeToken,
  createServiceAccount,
  rotateServiceAccountSecret,
  revokeServiceAccount,
  organisationCreated,
  orgUnitCreated,
  orgUnitRenamed,
  orgUnitEnded,
  activeOrgUnitSet,
  orgUnitGranted,
  orgUnitWithdrawn,
  tokenCreated,
  tokenRevoked,
  serviceAccountCreated,
  serviceAccountSecretRotated,
  serviceAccountRevoked,
] as const;
