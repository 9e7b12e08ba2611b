// Decides on commands about personal access tokens: create and revoke. Pure, like `decide`.
import {
  liveCredentials,
  grantedRateLimit,
  managedToken,
  refuseCredential,
  secretNotReproducible,
} from './credential-model.js';
import { actorIn, done, identityLimits, ownerOf, rejected, type IdentityDecision } from './decision-model.js';
import type { CreateToken, IdentityEvent, RevokeToken } from './messages.js';
import {
  builtInMemberId,
  memberIdOf,
  scopesOfRole,
  tokenWithin,
  type OrganisationState,
  type Token,
} from './state.js';

/** A token belongs to the member whose token asks for it. */
export function createToken({ id, payload }: CreateToken, state: OrganisationState): IdentityDecision {
  const { requested_at, standard_rate_limit, ...fields } = payload;
  const known = state.credentials.get(fields.token_id);
  if (known)
    return known.kind === 'token' && known.token_hash === fields.token_hash
      ? { outcome: 'done', events: [], result: tokenView(fields.organisation_id, known, null) }
      : secretNotReproducible();
  const creator = actorIn(state, fields.created_by);
  if ('outcome' in creator) return creator;
  if (creator.kind !== 'token')
    return rejected(
      'scope_not_allowed',
      'A personal access token belongs to the member who makes it, and a service account is no member. Make it with a token of the member.',
    );
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
  const member_id = memberIdOf(creator, fields.organisation_id);
  if (
    member_id !== builtInMemberId(fields.organisation_id) &&
    tokensOf(state, member_id).length >= identityLimits.tokensOfMember
  )
    return rejected(
      'limit_reached',
      `A member has at most ${String(identityLimits.tokensOfMember)} tokens. End one that is not used.`,
    );
  return done(
    state,
    { type: 'TokenCreated', payload: { ...fields, ...granted, member_id, at: requested_at }, command_id: id },
    (after) => tokenViewOf(after, fields.organisation_id, fields.token_id),
  );
}

export function revokeToken({ id, payload }: RevokeToken, state: OrganisationState): IdentityDecision {
  const { organisation_id, token_id, requested_at: at } = payload;
  const token = state.credentials.get(token_id);
  if (token?.revoked?.command_id === id) return { outcome: 'done', events: [] };
  const managed = managedToken(state, payload);
  if ('outcome' in managed) return managed;
  return { outcome: 'done', events: [tokenRevoked({ organisation_id, token_id, at }, id)] };
}

export function tokenRevoked(
  payload: Extract<IdentityEvent, { type: 'TokenRevoked' }>['payload'],
  command_id: string,
): IdentityEvent {
  return { type: 'TokenRevoked', payload, command_id };
}

/** The tokens of a member that have not been ended, each within what the member may do. */
export function tokensOf(state: OrganisationState, memberId: string): Token[] {
  return [...state.credentials.values()].flatMap((credential) => {
    if (credential.kind !== 'token' || credential.revoked) return [];
    const owner = ownerOf(state, credential);
    return owner?.id === memberId ? [tokenWithin(credential, owner)] : [];
  });
}

/** A token of the state as API answers show it, within what its member may do; undefined where there is none. */
export function tokenViewOf(state: OrganisationState, organisationId: string, tokenId: string) {
  const token = state.credentials.get(tokenId);
  const owner = token && ownerOf(state, token);
  if (token?.kind !== 'token') return undefined;
  return tokenView(organisationId, owner ? tokenWithin(token, owner) : token, null);
}

/**
 * A token as API answers show it, without its secret.
 * @param token within what its member may do
 */
export function tokenView(organisationId: string, token: Token, lastUsedAt: string | null) {
  return {
    id: token.id,
    name: token.name,
    member_id: memberIdOf(token, organisationId),
    prefix: 'lsp_' as const,
    last_four: token.last_four,
    role: token.role,
    ou_ids: token.ou_ids,
    rate_limit: token.rate_limit,
    quotas: token.quotas ?? null,
    warning_channel: token.warning_channel ?? null,
    expires_at: token.expires_at,
    last_used_at: lastUsedAt,
    created_at: token.created_at,
  };
}
