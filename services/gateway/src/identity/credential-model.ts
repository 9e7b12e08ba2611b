// Checks that the decisions on tokens, service accounts and members share: the credentials that a manager may see and end, and the
// rights and limits that a creator may give. Pure, like `decide`.
import { actorIn, adminIn, noSuchUnit, ownerOf, rejected, type Rejection } from './decision-model.js';
import type { OrganisationRateLimit, RateLimit, Scope } from './messages.js';
import {
  covers,
  mayManage,
  mayManageToken,
  scopesOf,
  tokenWithin,
  type Credential,
  type OrganisationState,
  type ServiceAccount,
  type Token,
} from './state.js';
import { isUsable } from './unit-model.js';

export function managedAccount(
  state: OrganisationState,
  { requested_by, client_id, ou_id }: { requested_by: string; client_id: string; ou_id: string },
): ServiceAccount | Rejection {
  const manager = adminIn(state, requested_by);
  if ('outcome' in manager) return manager;
  const managed = state.credentials.get(client_id);
  if (managed?.kind === 'service_account' && mayManage(manager, managed, ou_id)) return managed;
  return rejected(
    'service_account_not_found',
    'There is no such service account in this organizational unit.',
  );
}

export function managedToken(
  state: OrganisationState,
  { requested_by, token_id, ou_id }: { requested_by: string; token_id: string; ou_id: string },
): Token | Rejection {
  const manager = actorIn(state, requested_by);
  if ('outcome' in manager) return manager;
  const managed = state.credentials.get(token_id);
  const owner = managed && ownerOf(state, managed);
  const rights = {
    ou_ids: manager.ou_ids,
    isAdmin: scopesOf(manager).includes('admin'),
    memberId: ownerOf(state, manager)?.id ?? null,
  };
  if (managed?.kind === 'token' && owner) {
    const at = { ownerId: owner.id, ouId: ou_id };
    if (mayManageToken(rights, tokenWithin(managed, owner), at)) return managed;
  }
  return rejected('token_not_found', 'There is no such token in this organizational unit.');
}

/** A credential may use no OU and do nothing that its creator may not. */
export function refuseCredential(
  state: OrganisationState,
  fields: { created_by: string; ou_ids: string[] | null },
  scopes: readonly Scope[],
): Rejection | null {
  const creator = actorIn(state, fields.created_by);
  if ('outcome' in creator) return creator;
  const beyondUnits = refuseUnits(state, creator, fields.ou_ids);
  if (beyondUnits) return beyondUnits;
  const granted = scopesOf(creator);
  const beyond = scopes.filter((scope) => !granted.includes(scope));
  if (beyond.length > 0)
    return rejected(
      creator.kind === 'token' ? 'role_not_allowed' : 'scope_not_allowed',
      `The new credential could ${beyond.join(' and ')}, which this credential may not. Ask for less.`,
    );
  return null;
}

/** Nobody gives a right in an OU that they may not use. */
export function refuseUnits(
  state: OrganisationState,
  giver: Credential,
  ouIds: string[] | null,
): Rejection | null {
  const missing = ouIds?.find((ouId) => !isUsable(state, giver, ouId));
  if (missing !== undefined) return noSuchUnit(missing);
  if (covers(giver.ou_ids, ouIds)) return null;
  return rejected(
    'org_unit_not_allowed',
    'Only a credential for every organizational unit can give that right to another one. Name organizational units in ou_ids.',
  );
}

/**
 * The limit that a credential is given, which is never above its giver's, nor above the one set for the organisation. When the limit is
 * omitted and the standard limit is above that, the credential gets as much as it may.
 */
export function grantedRateLimit(
  state: OrganisationState,
  fields: { created_by: string; rate_limit: RateLimit | null },
  standard: RateLimit | undefined,
  ofOrganisation: OrganisationRateLimit | null = null,
): { rate_limit: RateLimit | null } | Rejection {
  const giver = actorIn(state, fields.created_by);
  if ('outcome' in giver) return giver;
  const own = giver.rate_limit ?? standard;
  const wanted = fields.rate_limit ?? standard;
  // Commands from before they contained the standard limit.
  if (own === undefined || wanted === undefined) return { rate_limit: fields.rate_limit };
  const together = state.organisation?.rate_limit ?? ofOrganisation;
  const most = together ? lesserLimit(own, together) : own;
  if (isWithin(wanted, most)) return { rate_limit: fields.rate_limit };
  if (fields.rate_limit === null) return { rate_limit: lesserLimit(wanted, most) };
  return rejected('rate_limit_not_allowed', beyondLimit(wanted, own, most));
}

function beyondLimit(wanted: RateLimit, own: RateLimit, most: RateLimit): string {
  return isWithin(wanted, own)
    ? `The credential could send ${inWords(wanted)}, more than all credentials of the organisation together: ${inWords(most)}. Ask for less.`
    : `The credential could send ${inWords(wanted)}; this one may send only ${inWords(own)}, and no credential gives more than it has. Ask for less.`;
}

/** Whether a limit is at most another one, at once and a minute. */
export function isWithin(limit: RateLimit, most: RateLimit): boolean {
  return limit.per_minute <= most.per_minute && limit.burst <= most.burst;
}

function lesserLimit(one: RateLimit, other: RateLimit): RateLimit {
  return {
    per_minute: Math.min(one.per_minute, other.per_minute),
    burst: Math.min(one.burst, other.burst),
  };
}

export function inWords({ per_minute, burst }: RateLimit): string {
  return `${String(per_minute)} requests a minute and ${String(burst)} at once`;
}

export function secretNotReproducible(): Rejection {
  return rejected(
    'idempotency_key_reused',
    'The secret that the earlier request with this Idempotency-Key created can no longer be shown. Send the request with another Idempotency-Key.',
  );
}

/** The number of credentials of a kind that have not ended. */
export function liveCredentials(state: OrganisationState, kind: Credential['kind']): number {
  let count = 0;
  for (const credential of state.credentials.values())
    if (credential.kind === kind && !credential.revoked) count += 1;
  return count;
}
