// Builders of identity commands for tests, with fixed values that a test may replace.
import { nameBasedId } from '@lead-scoring/contracts';
import type { IdentityCommand } from '../identity/messages.js';

export const organisationId = '11111111-1111-4111-8111-111111111111';
export const at = '2026-01-01T12:00:00.000Z';

/** A stable id for a short name. */
export const idOf = (name: string): string => nameBasedId(organisationId, `test:${name}`);
export const hashOf = (name: string): string =>
  idOf(name).replaceAll('-', '') + idOf(`${name}'`).replaceAll('-', '');

type CommandOf<Type extends IdentityCommand['type']> = Extract<IdentityCommand, { type: Type }>;
type Fields<Type extends IdentityCommand['type']> = Partial<CommandOf<Type>['payload']>;

const common = { organisation_id: organisationId, requested_at: at };

/** Organisation, OU `main` and token `root`. */
export const bootstrap = (more: Fields<'BootstrapOrganisation'> = {}): IdentityCommand => ({
  type: 'BootstrapOrganisation',
  id: idOf('bootstrap'),
  payload: {
    ...common,
    name: 'Example',
    ou_id: idOf('main'),
    ou_name: 'Main',
    token_id: idOf('root'),
    token_hash: hashOf('root'),
    token_last_four: 'root',
    ...more,
  },
});

export const createOrgUnit = (name: string, more: Fields<'CreateOrgUnit'> = {}): IdentityCommand => ({
  type: 'CreateOrgUnit',
  id: idOf(name),
  payload: { ...common, ou_id: idOf(name), name, created_by: idOf('root'), ...more },
});

export const renameOrgUnit = (
  unit: string,
  name: string,
  more: Fields<'RenameOrgUnit'> = {},
): IdentityCommand => ({
  type: 'RenameOrgUnit',
  id: idOf(`rename ${unit} ${name}`),
  payload: { ...common, ou_id: idOf(unit), name, requested_by: idOf('root'), ...more },
});

export const endOrgUnit = (
  unit: string,
  more: Fields<'EndOrgUnit'> = {},
  id = `end ${unit}`,
): IdentityCommand => ({
  type: 'EndOrgUnit',
  id: idOf(id),
  payload: { ...common, ou_id: idOf(unit), requested_by: idOf('root'), ...more },
});

export const setActive = (
  credential: string,
  unit: string,
  id = `active ${credential} ${unit}`,
): IdentityCommand => ({
  type: 'SetActiveOrgUnit',
  id: idOf(id),
  payload: { ...common, credential_id: idOf(credential), ou_id: idOf(unit) },
});

export const createToken = (name: string, more: Fields<'CreateToken'> = {}): IdentityCommand => ({
  type: 'CreateToken',
  id: idOf(name),
  payload: {
    ...common,
    token_id: idOf(name),
    name,
    token_hash: hashOf(name),
    last_four: 'last',
    role: 'editor',
    ou_ids: [idOf('main')],
    expires_at: null,
    rate_limit: null,
    created_by: idOf('root'),
    ...more,
  },
});

const management = { ...common, ou_id: idOf('main'), requested_by: idOf('root') };

export const revokeToken = (
  name: string,
  more: Fields<'RevokeToken'> = {},
  id = `revoke ${name}`,
): IdentityCommand => ({
  type: 'RevokeToken',
  id: idOf(id),
  payload: { ...management, token_id: idOf(name), ...more },
});

export const createServiceAccount = (
  name: string,
  more: Fields<'CreateServiceAccount'> = {},
): IdentityCommand => ({
  type: 'CreateServiceAccount',
  id: idOf(name),
  payload: {
    ...common,
    client_id: idOf(name),
    name,
    secret_hash: hashOf(name),
    last_four: 'last',
    scopes: ['ingest'],
    ou_ids: [idOf('main')],
    rate_limit: null,
    created_by: idOf('root'),
    ...more,
  },
});

export const rotate = (
  name: string,
  rotation: string,
  more: Fields<'RotateServiceAccountSecret'> = {},
): IdentityCommand => ({
  type: 'RotateServiceAccountSecret',
  id: idOf(rotation),
  payload: {
    ...management,
    client_id: idOf(name),
    secret_hash: hashOf(rotation),
    last_four: 'turn',
    ...more,
  },
});

export const revokeServiceAccount = (name: string, id = `revoke ${name}`): IdentityCommand => ({
  type: 'RevokeServiceAccount',
  id: idOf(id),
  payload: { ...management, client_id: idOf(name) },
});

const standard = { per_minute: 100, burst: 200 };
const ofOrganisation = { per_minute: 1_000, burst: 2_000 };

export const limitCredential = (
  name: string,
  more: Fields<'LimitCredential'> = {},
  id = `limit ${name} ${JSON.stringify(more)}`,
): IdentityCommand => ({
  type: 'LimitCredential',
  id: idOf(id),
  payload: {
    ...management,
    kind: 'token',
    credential_id: idOf(name),
    standard_rate_limit: standard,
    organisation_rate_limit: ofOrganisation,
    ...more,
  },
});

export const limitOrganisation = (
  more: Fields<'LimitOrganisation'> = {},
  id = `limit ${JSON.stringify(more)}`,
): IdentityCommand => ({
  type: 'LimitOrganisation',
  id: idOf(id),
  payload: {
    ...common,
    organisation_rate_limit: ofOrganisation,
    requested_by: idOf('root'),
    ...more,
  },
});

export const warnOfQuota = (
  more: Fields<'WarnOfQuota'> = {},
  id = JSON.stringify(more),
): IdentityCommand => ({
  type: 'WarnOfQuota',
  id: idOf(`warn ${id}`),
  payload: {
    ...common,
    credential_id: null,
    quota: 'calls_per_day',
    period: '2026-01-01T00:00:00.000Z',
    limit: 100,
    used: 80,
    ...more,
  },
});

export const addMember = (name: string, more: Fields<'AddMember'> = {}): IdentityCommand => ({
  type: 'AddMember',
  id: idOf(name),
  payload: {
    ...common,
    member_id: idOf(name),
    email: `${name.replaceAll(' ', '.')}@example.com`,
    name,
    role: 'editor',
    ou_ids: null,
    invitation_hash: hashOf(`link of ${name}`),
    invitation_expires_at: '2026-01-08T12:00:00.000Z',
    standard_rate_limit: { per_minute: 100, burst: 200 },
    requested_by: idOf('root'),
    ...more,
  },
});

export const changeMember = (
  name: string,
  more: Fields<'ChangeMember'>,
  id = `change ${name} ${JSON.stringify(more)}`,
): IdentityCommand => ({
  type: 'ChangeMember',
  id: idOf(id),
  payload: { ...common, member_id: idOf(name), requested_by: idOf('root'), ...more },
});

export const removeMember = (
  name: string,
  more: Fields<'RemoveMember'> = {},
  id = `remove ${name}`,
): IdentityCommand => ({
  type: 'RemoveMember',
  id: idOf(id),
  payload: { ...common, member_id: idOf(name), requested_by: idOf('root'), ...more },
});

export const inviteMember = (
  name: string,
  id = `invite ${name}`,
  more: Fields<'InviteMember'> = {},
): IdentityCommand => ({
  type: 'InviteMember',
  id: idOf(id),
  payload: {
    ...common,
    member_id: idOf(name),
    invitation_hash: hashOf(id),
    invitation_expires_at: '2026-01-08T12:00:00.000Z',
    requested_by: idOf('root'),
    ...more,
  },
});

/** A person with the address of `addMember(name)` has signed in. */
export const admit = (
  name: string,
  more: Fields<'AdmitMember'> = {},
  id = `admit ${name}`,
): IdentityCommand => ({
  type: 'AdmitMember',
  id: idOf(id),
  payload: {
    ...common,
    member_id: idOf(`admitted ${name}`),
    email: `${name.replaceAll(' ', '.')}@example.com`,
    name,
    created: null,
    ...more,
  },
});

/** Uses the first link of a member; the token is named `token of <name>`. */
export const join = (name: string, more: Fields<'AcceptInvitation'> = {}): IdentityCommand => ({
  type: 'AcceptInvitation',
  id: idOf(`token of ${name}`),
  payload: {
    ...common,
    member_id: idOf(name),
    invitation_hash: hashOf(`link of ${name}`),
    token_id: idOf(`token of ${name}`),
    token_hash: hashOf(`token of ${name}`),
    last_four: 'join',
    ...more,
  },
});
