// Checks that the decisions on tokens and service accounts share: the credentials that a manager may see and end, and the rights and
// limits that a creator may give. Pure, like `decide`.
import { actorIn, noSuchUnit, rejected, type Rejection } from './decision-model.js';
import type { RateLimit, Scope } from './messages.js';
import { covers, mayManage, scopesOf, type Credential, type OrganisationState } from './state.js';
import { isUsable } from './unit-model.js';

export function managedBy<Managed extends Credential>(
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
export function refuseCredential(
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
 * The limit of a new credential, which is never above its creator's. When the limit is omitted and the creator has less than the
 * standard limit, the new credential gets the creator's limit.
 */
export function grantedRateLimit(
  state: OrganisationState,
  fields: { created_by: string; rate_limit: RateLimit | null },
  standard: RateLimit | undefined,
): { rate_limit: RateLimit | null } | Rejection {
  const own = state.credentials.get(fields.created_by)?.rate_limit ?? standard;
  const wanted = fields.rate_limit ?? standard;
  // Commands from before they contained the standard limit.
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
    `The new credential could send ${inWords(wanted)}; this one may send only ${inWords(own)}, and no credential gives more than it has. Ask for less.`,
  );
}

function inWords({ per_minute, burst }: RateLimit): string {
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
