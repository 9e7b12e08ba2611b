// Decides on the commands of identity: pure; time and ids come with the command. The same command again is a no-op
// with the same answer.
import { actedBy } from '@lead-scoring/contracts';
import type {
  BootstrapOrganisation,
  CreateServiceAccount,
  CreateToken,
  IdentityCommand,
  RateLimit,
  RevokeServiceAccount,
  RevokeToken,
  RotateServiceAccountSecret,
  Scope,
} from './commands.js';
import type { IdentityEvent } from './events.js';
import {
  actorIn,
  done,
  identityLimits,
  noSuchUnit,
  rejected,
  type IdentityDecision,
  type Rejection,
} from './decision-model.js';
import {
  covers,
  mayManage,
  scopesOf,
  scopesOfRole,
  type Credential,
  type OrganisationState,
  type ServiceAccount,
  type Token,
} from './state.js';
import {
  activeSet,
  createOrgUnit,
  endOrgUnit,
  isUsable,
  renameOrgUnit,
  setActiveOrgUnit,
  unitNamed,
} from './unit-model.js';

/** How long a secret stays valid after it was replaced (API.md). */
export const rotationGraceMs = 24 * 3_600_000;

export function decide(command: IdentityCommand, state: OrganisationState): IdentityDecision {
  const decision = decideCommand(command, state);
  if (decision.outcome === 'rejected') return decision;
  return { ...decision, events: actedBy(decision.events, command.payload) };
}

function decideCommand(command: IdentityCommand, state: OrganisationState): IdentityDecision {
  switch (command.type) {
    case 'BootstrapOrganisation':
      return bootstrap(command, state);
    case 'CreateOrgUnit':
      return createOrgUnit(command, state);
    case 'RenameOrgUnit':
      return renameOrgUnit(command, state);
    case 'EndOrgUnit':
      return endOrgUnit(command, state);
    case 'SetActiveOrgUnit':
      return setActiveOrgUnit(command, state);
    case 'CreateToken':
      return createToken(command, state);
    case 'CreateServiceAccount':
      return createServiceAccount(command, state);
    case 'RotateServiceAccountSecret':
      return rotate(command, state);
    case 'RevokeToken':
      return revokeToken(command, state);
    case 'RevokeServiceAccount':
      return revokeServiceAccount(command, state);
  }
}

/** Makes what is missing of the organisation, its first OU and the operator's token; a token that was ended stays ended. */
function bootstrap({ id, payload }: BootstrapOrganisation, state: OrganisationState): IdentityDecision {
  const { organisation_id, name, ou_id, ou_name, token_id, token_hash, token_last_four } = payload;
  const at = payload.requested_at;
  const events: IdentityEvent[] = [];
  if (!state.organisation)
    events.push({
      type: 'OrganisationCreated',
      payload: { organisation_id, name, at },
      command_id: id,
    });
  if (!state.units.has(ou_id) && !unitNamed(state, ou_name))
    events.push({
      type: 'OrgUnitCreated',
      payload: { organisation_id, ou_id, name: ou_name, created_by: token_id, at },
      command_id: id,
    });
  if (!state.credentials.has(token_id))
    events.push({
      type: 'TokenCreated',
      payload: {
        organisation_id,
        token_id,
        name: 'Bootstrap',
        token_hash,
        last_four: token_last_four,
        role: 'admin',
        ou_ids: null,
        expires_at: null,
        rate_limit: payload.token_rate_limit ?? null,
        created_by: token_id,
        at,
      },
      command_id: id,
    });
  const unitId = state.units.has(ou_id) ? ou_id : (unitNamed(state, ou_name)?.id ?? ou_id);
  const token = state.credentials.get(token_id);
  // Its calls go on working when there is a second OU. One that was ended stays ended.
  if (!state.units.get(unitId)?.ended && (!token || (!token.revoked && token.active_ou_id === null)))
    events.push(activeSet({ organisation_id, credential_id: token_id, ou_id: unitId, at }, id));
  return { outcome: 'done', events };
}

function createToken({ id, payload }: CreateToken, state: OrganisationState): IdentityDecision {
  const { requested_at, standard_rate_limit, ...fields } = payload;
  const known = state.credentials.get(fields.token_id);
  if (known)
    return known.kind === 'token' && known.token_hash === fields.token_hash
      ? { outcome: 'done', events: [], result: tokenView(known, null) }
      : secretNotReproducible();
  const refusal = refuseCredential(state, fields, scopesOfRole[fields.role]);
  if (refusal) return refusal;
  const granted = grantedRateLimit(state, fields, standard_rate_limit);
  if ('outcome' in granted) return granted;
  if (fields.expires_at !== null && fields.expires_at <= requested_at)
    return rejected('invalid_request', 'expires_at must be in the future.');
  if (live(state, 'token') >= identityLimits.tokens)
    return rejected(
      'limit_reached',
      `An organisation has at most ${String(identityLimits.tokens)} tokens. End one that is not used.`,
    );
  return done(
    state,
    { type: 'TokenCreated', payload: { ...fields, ...granted, at: requested_at }, command_id: id },
    (after) => {
      const token = after.credentials.get(fields.token_id);
      return token?.kind === 'token' ? tokenView(token, null) : undefined;
    },
  );
}

function createServiceAccount(
  { id, payload }: CreateServiceAccount,
  state: OrganisationState,
): IdentityDecision {
  const { requested_at, standard_rate_limit, ...fields } = payload;
  const known = state.credentials.get(fields.client_id);
  if (known)
    // A repeat of the creation after a rotation cannot show a valid secret any more.
    return known.kind === 'service_account' && known.secret_hash === fields.secret_hash
      ? { outcome: 'done', events: [], result: serviceAccountView(known, null) }
      : secretNotReproducible();
  const refusal = refuseCredential(state, fields, fields.scopes);
  if (refusal) return refusal;
  const granted = grantedRateLimit(state, fields, standard_rate_limit);
  if ('outcome' in granted) return granted;
  if (live(state, 'service_account') >= identityLimits.serviceAccounts)
    return rejected(
      'limit_reached',
      `An organisation has at most ${String(identityLimits.serviceAccounts)} service accounts. End one that is not used.`,
    );
  return done(
    state,
    { type: 'ServiceAccountCreated', payload: { ...fields, ...granted, at: requested_at }, command_id: id },
    (after) => accountView(after, fields.client_id),
  );
}

function rotate({ id, payload }: RotateServiceAccountSecret, state: OrganisationState): IdentityDecision {
  const { organisation_id, client_id, secret_hash, last_four, requested_at } = payload;
  const account = state.credentials.get(client_id);
  if (account?.kind === 'service_account' && account.rotations.includes(id))
    return account.secret_hash === secret_hash
      ? { outcome: 'done', events: [], result: serviceAccountView(account, null) }
      : secretNotReproducible();
  const managed = managedBy<ServiceAccount>(
    state,
    payload.requested_by,
    account,
    payload.ou_id,
    'service_account',
  );
  if ('outcome' in managed) return managed;
  return done(
    state,
    {
      type: 'ServiceAccountSecretRotated',
      payload: {
        organisation_id,
        client_id,
        secret_hash,
        last_four,
        previous_valid_until: new Date(Date.parse(requested_at) + rotationGraceMs).toISOString(),
        at: requested_at,
      },
      command_id: id,
    },
    (after) => accountView(after, client_id),
  );
}

function revokeToken({ id, payload }: RevokeToken, state: OrganisationState): IdentityDecision {
  const { organisation_id, token_id, requested_at: at } = payload;
  const token = state.credentials.get(token_id);
  if (token?.revoked?.command_id === id) return { outcome: 'done', events: [] };
  const managed = managedBy<Token>(state, payload.requested_by, token, payload.ou_id, 'token');
  if ('outcome' in managed) return managed;
  return {
    outcome: 'done',
    events: [{ type: 'TokenRevoked', payload: { organisation_id, token_id, at }, command_id: id }],
  };
}

function revokeServiceAccount(
  { id, payload }: RevokeServiceAccount,
  state: OrganisationState,
): IdentityDecision {
  const { organisation_id, client_id, requested_at: at } = payload;
  const account = state.credentials.get(client_id);
  if (account?.revoked?.command_id === id) return { outcome: 'done', events: [] };
  const managed = managedBy<ServiceAccount>(
    state,
    payload.requested_by,
    account,
    payload.ou_id,
    'service_account',
  );
  if ('outcome' in managed) return managed;
  return {
    outcome: 'done',
    events: [{ type: 'ServiceAccountRevoked', payload: { organisation_id, client_id, at }, command_id: id }],
  };
}

function managedBy<Managed extends Credential>(
  state: OrganisationState,
  managerId: string,
  managed: Credential | undefined,
  ouId: string,
  kind: Managed['kind'],
): Managed | Rejection {
  const manager = actorIn(state, managerId);
  if ('outcome' in manager) return manager;
  if (managed?.kind !== kind || !mayManage(manager, managed, ouId))
    return kind === 'token'
      ? rejected('token_not_found', 'There is no such token in this organizational unit.')
      : rejected(
          'service_account_not_found',
          'There is no such service account in this organizational unit.',
        );
  return managed as Managed;
}

/** A credential may use no OU and do nothing that its creator may not. */
function refuseCredential(
  state: OrganisationState,
  fields: { created_by: string; ou_ids: string[] | null },
  scopes: readonly Scope[],
): Rejection | null {
  const creator = actorIn(state, fields.created_by);
  if ('outcome' in creator) return creator;
  const missing = fields.ou_ids?.find((ouId) => !isUsable(state, creator, ouId));
  if (missing !== undefined) return noSuchUnit(missing);
  if (!covers(creator.ou_ids, fields.ou_ids))
    return rejected(
      'org_unit_not_allowed',
      'Only a credential for every organizational unit can make another one.',
    );
  const granted = scopesOf(creator);
  const beyond = scopes.filter((scope) => !granted.includes(scope));
  if (beyond.length > 0)
    return rejected(
      creator.kind === 'token' ? 'role_not_allowed' : 'scope_not_allowed',
      `The new credential could ${beyond.join(' and ')}, which this credential may not. Ask for less.`,
    );
  return null;
}

/**
 * The new credential's own limit: never more than its creator has. A creator with less than the standard limit cannot
 * give that by leaving the limit out: the new credential then has its creator's.
 */
function grantedRateLimit(
  state: OrganisationState,
  fields: { created_by: string; rate_limit: RateLimit | null },
  standard: RateLimit | undefined,
): { rate_limit: RateLimit | null } | Rejection {
  const own = state.credentials.get(fields.created_by)?.rate_limit ?? standard;
  const wanted = fields.rate_limit ?? standard;
  // Commands that were written before the standard limit was in them.
  if (own === undefined || wanted === undefined) return { rate_limit: fields.rate_limit };
  if (wanted.per_minute <= own.per_minute && wanted.burst <= own.burst)
    return { rate_limit: fields.rate_limit };
  if (fields.rate_limit === null)
    return {
      rate_limit: {
        per_minute: Math.min(wanted.per_minute, own.per_minute),
        burst: Math.min(wanted.burst, own.burst),
      },
    };
  return rejected(
    'rate_limit_not_allowed',
    `The new credential could send ${inWords(wanted)}; this one may send ${inWords(own)}, and none gives more than it has. Ask for less.`,
  );
}

function inWords({ per_minute, burst }: RateLimit): string {
  return `${String(per_minute)} requests a minute and ${String(burst)} at once`;
}

function secretNotReproducible(): Rejection {
  return rejected(
    'idempotency_key_reused',
    'The secret that this earlier request made can no longer be shown. Send the request with another Idempotency-Key.',
  );
}

function live(state: OrganisationState, kind: Credential['kind']): number {
  let count = 0;
  for (const credential of state.credentials.values())
    if (credential.kind === kind && !credential.revoked) count += 1;
  return count;
}

/** A token as its routes answer it, without its secret. */
export function tokenView(token: Token, lastUsedAt: string | null) {
  return {
    id: token.id,
    name: token.name,
    prefix: 'lsp_' as const,
    last_four: token.last_four,
    role: token.role,
    ou_ids: token.ou_ids,
    rate_limit: token.rate_limit,
    expires_at: token.expires_at,
    last_used_at: lastUsedAt,
    created_at: token.created_at,
  };
}

/** A service account as its routes answer it, without its secret. */
export function serviceAccountView(account: ServiceAccount, lastUsedAt: string | null) {
  return {
    client_id: account.id,
    name: account.name,
    last_four: account.last_four,
    scopes: account.scopes,
    ou_ids: account.ou_ids,
    rate_limit: account.rate_limit,
    last_used_at: lastUsedAt,
    created_at: account.created_at,
  };
}

function accountView(state: OrganisationState, clientId: string) {
  const account = state.credentials.get(clientId);
  return account?.kind === 'service_account' ? serviceAccountView(account, null) : undefined;
}
