// Decides on commands about service accounts: create, rotate the secret, revoke. Pure, like `decide`.
import {
  liveCredentials,
  grantedRateLimit,
  managedAccount,
  refuseCredential,
  secretNotReproducible,
} from './credential-model.js';
import { done, identityLimits, rejected, type IdentityDecision } from './decision-model.js';
import type { CreateServiceAccount, RevokeServiceAccount, RotateServiceAccountSecret } from './messages.js';
import type { OrganisationState, ServiceAccount } from './state.js';

/** The time for which a secret stays valid after it was replaced (API.md). */
const rotationGraceMs = 24 * 3_600_000;

export function createServiceAccount(
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
  if (liveCredentials(state, 'service_account') >= identityLimits.serviceAccounts)
    return rejected(
      'limit_reached',
      `An organisation has at most ${String(identityLimits.serviceAccounts)} service accounts. End one that is not used.`,
    );
  return done(
    state,
    { type: 'ServiceAccountCreated', payload: { ...fields, ...granted, at: requested_at }, command_id: id },
    (after) => accountViewOf(after, fields.client_id),
  );
}

export function rotateSecret(
  { id, payload }: RotateServiceAccountSecret,
  state: OrganisationState,
): IdentityDecision {
  const { organisation_id, client_id, secret_hash, last_four, requested_at } = payload;
  const account = state.credentials.get(client_id);
  if (account?.kind === 'service_account' && account.rotations.includes(id))
    return account.secret_hash === secret_hash
      ? { outcome: 'done', events: [], result: serviceAccountView(account, null) }
      : secretNotReproducible();
  const managed = managedAccount(state, payload);
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
    (after) => accountViewOf(after, client_id),
  );
}

export function revokeServiceAccount(
  { id, payload }: RevokeServiceAccount,
  state: OrganisationState,
): IdentityDecision {
  const { organisation_id, client_id, requested_at: at } = payload;
  const account = state.credentials.get(client_id);
  if (account?.revoked?.command_id === id) return { outcome: 'done', events: [] };
  const managed = managedAccount(state, payload);
  if ('outcome' in managed) return managed;
  return {
    outcome: 'done',
    events: [{ type: 'ServiceAccountRevoked', payload: { organisation_id, client_id, at }, command_id: id }],
  };
}

/** A service account as API answers show it, without its secret. */
export function serviceAccountView(account: ServiceAccount, lastUsedAt: string | null) {
  return {
    client_id: account.id,
    name: account.name,
    last_four: account.last_four,
    scopes: account.scopes,
    ou_ids: account.ou_ids,
    rate_limit: account.rate_limit,
    quotas: account.quotas ?? null,
    warning_channel: account.warning_channel ?? null,
    last_used_at: lastUsedAt,
    created_at: account.created_at,
  };
}

/** A service account of the state as API answers show it; undefined where there is none. */
export function accountViewOf(state: OrganisationState, clientId: string) {
  const account = state.credentials.get(clientId);
  return account?.kind === 'service_account' ? serviceAccountView(account, null) : undefined;
}
