// Decides on commands about personal access tokens: create and revoke. Pure, like `decide`.
import {
  liveCredentials,
  grantedRateLimit,
  managedBy,
  refuseCredential,
  secretNotReproducible,
} from './credential-model.js';
import { done, identityLimits, rejected, type IdentityDecision } from './decision-model.js';
import type { CreateToken, RevokeToken } from './messages.js';
import { scopesOfRole, type OrganisationState, type Token } from './state.js';

export function createToken({ id, payload }: CreateToken, state: OrganisationState): IdentityDecision {
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
  if (liveCredentials(state, 'token') >= identityLimits.tokens)
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

export function revokeToken({ id, payload }: RevokeToken, state: OrganisationState): IdentityDecision {
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

/** A token as API answers show it, without its secret. */
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
