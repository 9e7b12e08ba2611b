// Organizational units and credentials; the gateway owns them.
import { z } from 'zod';
import { id, moment, name, page, pageParameters, time } from '../common.js';
import { rateLimit, role, scope } from '../records/gateway.js';
import { quotas, warningChannel } from '../records/limits.js';
import { admin, defineRoute, viewer } from './route.js';

const noUnit = { organisationUnit: 'none' } as const;
/** Members see and end their own tokens. A service account has none: it needs the scope for those of others. */
const ownTokens = { ...viewer, scope: 'admin' } as const;

export const orgUnit = z
  .strictObject({
    id,
    name: z.string().max(100),
    active: z.boolean().describe('The OU in which this credential works.'),
    created_at: time,
  })
  .meta({ id: 'OrgUnit' });

export const setActiveOrgUnit = defineRoute({
  name: 'setActiveOrgUnit',
  method: 'POST',
  path: '/org-units/active',
  owner: 'gateway',
  kind: 'command',
  access: { ...viewer, ...noUnit },
  tag: 'Session',
  summary: "Set this credential's active OU",
  body: z.strictObject({ ouId: id }),
  responses: {
    200: { description: 'Active', schema: z.strictObject({ ouId: id, name: z.string().max(100) }) },
  },
  problems: ['org_unit_not_found'],
});

export const listOrgUnits = defineRoute({
  name: 'listOrgUnits',
  method: 'GET',
  path: '/org-units',
  owner: 'gateway',
  kind: 'local',
  access: { ...viewer, ...noUnit },
  tag: 'Session',
  summary: 'OUs that this credential may use',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'OUs', schema: page(orgUnit) } },
  problems: [],
});

export const createOrgUnit = defineRoute({
  name: 'createOrgUnit',
  method: 'POST',
  path: '/org-units',
  owner: 'gateway',
  kind: 'command',
  access: { ...admin, ...noUnit },
  tag: 'Admin',
  summary: 'Create an OU',
  description:
    'A credential that is limited to some OUs may use the new one as well. Credentials that worked in their only OU go on working in it: it becomes their active one.',
  body: z.strictObject({ name: name(100) }),
  responses: { 201: { description: 'Created', schema: orgUnit } },
  problems: ['duplicate_name', 'limit_reached'],
});

export const renameOrgUnit = defineRoute({
  name: 'renameOrgUnit',
  method: 'PATCH',
  path: '/org-units/{id}',
  owner: 'gateway',
  kind: 'command',
  access: { ...admin, ...noUnit },
  tag: 'Admin',
  summary: 'Rename an OU',
  parameters: z.strictObject({ id }),
  body: z.strictObject({ name: name(100) }),
  responses: { 200: { description: 'Renamed', schema: orgUnit } },
  problems: ['org_unit_not_found', 'duplicate_name'],
});

export const endOrgUnit = defineRoute({
  name: 'endOrgUnit',
  method: 'DELETE',
  path: '/org-units/{id}',
  owner: 'gateway',
  kind: 'command',
  access: { ...admin, ...noUnit },
  tag: 'Admin',
  summary: 'End an OU',
  description: `For good: nothing brings an OU back, and its name may be used again.

- From then on every call that names the OU is refused, its share links are unknown, and no list shows it. Other OUs stay as they are.
- Credentials that could use nothing else end with it; the others may no longer use it. A credential whose active OU it was chooses another one before its next call (\`org_unit_not_selected\`): none is chosen in its place, so that nothing goes to another OU unasked.
- Events and changes that were accepted before are still decided, recorded and published, and their notifications are still sent. The OU's data stays on the log and in the database, where an operator can read it; delete its leads first where they must not stay.
- The last OU of the organisation, or the last that this credential may use, cannot be ended.`,
  parameters: z.strictObject({ id }),
  responses: { 204: { description: 'Ended' } },
  problems: ['org_unit_not_found', 'last_org_unit'],
});

const tokenView = {
  id,
  name: z.string().max(100),
  member_id: id.describe('The member whose it is.'),
  prefix: z.literal('lsp_'),
  last_four: z.string().length(4),
  role: role.describe('What it may do now: its own role, or that of its member where that is less.'),
  ou_ids: z
    .array(id)
    .max(200)
    .nullable()
    .describe('Where: its own OUs, without those that its member may not use. null: every OU.'),
  rate_limit: rateLimit.nullable(),
  quotas: quotas.nullable(),
  warning_channel: warningChannel
    .nullable()
    .describe('Is told when 80 % of a quota are used; null: the one of GET /settings/limits, if any.'),
  expires_at: time.nullable(),
  last_used_at: time.nullable(),
  created_at: time,
};

export const token = z.strictObject(tokenView).meta({ id: 'Token' });

const ouIds = z
  .array(id)
  .min(1)
  .max(200)
  .optional()
  .describe('OUs that the credential may use. Default: the active OU.');

export const listTokens = defineRoute({
  name: 'listTokens',
  method: 'GET',
  path: '/settings/tokens',
  owner: 'gateway',
  kind: 'local',
  access: ownTokens,
  tag: 'Session',
  summary: 'Your personal access tokens that may be used in the OU; for an admin, those of all members',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Tokens, without their secrets', schema: page(token) } },
  problems: [],
});

export const createToken = defineRoute({
  name: 'createToken',
  method: 'POST',
  path: '/settings/tokens',
  owner: 'gateway',
  kind: 'command',
  access: { ...viewer, scope: null },
  tag: 'Session',
  summary: 'Create a personal access token of your own',
  description:
    'The answer shows `token` this once. It is yours: at each use it may do what you may at that moment, narrowed by its own `role` and `ou_ids`, and it ends when you cease to be a member. It gets no OU and no role that the token you call with has not. A service account cannot make one.',
  body: z
    .strictObject({
      name: name(100),
      expires_at: moment.optional(),
      ou_ids: ouIds,
      role: role
        .optional()
        .describe('Default: editor, or the role of the token you call with where that is less.'),
      rate_limit: rateLimit.optional(),
    })
    .meta({ id: 'TokenForm' }),
  responses: {
    201: {
      description: 'Created',
      schema: z.strictObject({ ...tokenView, token: z.string().max(100) }).meta({ id: 'NewToken' }),
    },
  },
  problems: ['org_unit_not_found', 'limit_reached', 'rate_limit_not_allowed'],
  showsSecret: true,
});

export const revokeToken = defineRoute({
  name: 'revokeToken',
  method: 'DELETE',
  path: '/settings/tokens/{id}',
  owner: 'gateway',
  kind: 'command',
  access: ownTokens,
  tag: 'Session',
  summary: 'End a personal access token of yours; an admin ends those of any member',
  parameters: z.strictObject({ id }),
  responses: { 204: { description: 'Ended' } },
  problems: ['token_not_found'],
});

const serviceAccountView = {
  client_id: id,
  name: z.string().max(100),
  last_four: z.string().length(4),
  scopes: z.array(scope).max(4),
  ou_ids: z.array(id).max(200).nullable(),
  rate_limit: rateLimit.nullable(),
  quotas: quotas.nullable(),
  warning_channel: warningChannel
    .nullable()
    .describe('Is told when 80 % of a quota are used; null: the one of GET /settings/limits, if any.'),
  last_used_at: time.nullable(),
  created_at: time,
};

export const serviceAccount = z.strictObject(serviceAccountView).meta({ id: 'ServiceAccount' });
const newServiceAccount = z
  .strictObject({ ...serviceAccountView, client_secret: z.string().max(100) })
  .meta({ id: 'NewServiceAccount' });

export const listServiceAccounts = defineRoute({
  name: 'listServiceAccounts',
  method: 'GET',
  path: '/secrets',
  owner: 'gateway',
  kind: 'local',
  access: admin,
  tag: 'Admin',
  summary: 'Service accounts of the OU',
  query: z.strictObject(pageParameters),
  responses: {
    200: { description: 'Service accounts, without their secrets', schema: page(serviceAccount) },
  },
  problems: [],
});

export const createServiceAccount = defineRoute({
  name: 'createServiceAccount',
  method: 'POST',
  path: '/secrets',
  owner: 'gateway',
  kind: 'command',
  access: admin,
  tag: 'Admin',
  summary: 'Create a service account for HTTP Basic',
  description: 'The answer shows `client_secret` this once.',
  body: z
    .strictObject({
      name: name(100),
      scopes: z.array(scope).min(1).max(4).default(['ingest', 'read', 'write']),
      ou_ids: ouIds,
      rate_limit: rateLimit.optional(),
    })
    .meta({ id: 'ServiceAccountForm' }),
  responses: { 201: { description: 'Created', schema: newServiceAccount } },
  problems: ['org_unit_not_found', 'limit_reached', 'rate_limit_not_allowed'],
  showsSecret: true,
});

export const rotateServiceAccountSecret = defineRoute({
  name: 'rotateServiceAccountSecret',
  method: 'POST',
  path: '/secrets/{id}/rotate',
  owner: 'gateway',
  kind: 'command',
  access: admin,
  tag: 'Admin',
  summary: 'Give a service account another secret; the old one stays valid for 24 hours',
  parameters: z.strictObject({ id }),
  responses: { 200: { description: 'Rotated', schema: newServiceAccount } },
  problems: ['service_account_not_found'],
  showsSecret: true,
});

export const revokeServiceAccount = defineRoute({
  name: 'revokeServiceAccount',
  method: 'DELETE',
  path: '/secrets/{id}',
  owner: 'gateway',
  kind: 'command',
  access: admin,
  tag: 'Admin',
  summary: 'End a service account',
  parameters: z.strictObject({ id }),
  responses: { 204: { description: 'Ended' } },
  problems: ['service_account_not_found'],
});
