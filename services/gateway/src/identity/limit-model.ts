// Decides on commands about limits: of one credential, and of all credentials of an organisation together. Pure, like `decide`.
import { accountViewOf } from './account-model.js';
import { grantedRateLimit, inWords, isWithin, managedAccount, managedToken } from './credential-model.js';
import { adminIn, doneWith, rejected, type IdentityDecision, type Rejection } from './decision-model.js';
import type { IdentityEvent, LimitCredential, LimitOrganisation, OrganisationRateLimit } from './messages.js';
import { covers, type Credential, type Organisation, type OrganisationState } from './state.js';
import { tokenViewOf } from './token-model.js';

/** Gives a token or service account another limit; one that the administrator may not manage is answered as not found. */
export function limitCredential(
  { id, payload }: LimitCredential,
  state: OrganisationState,
): IdentityDecision {
  const { organisation_id, credential_id, requested_by, requested_at: at } = payload;
  const managed = managedCredential(payload, state);
  if ('outcome' in managed) return managed;
  const granted =
    payload.rate_limit === undefined
      ? { rate_limit: managed.rate_limit }
      : grantedRateLimit(
          state,
          { created_by: requested_by, rate_limit: payload.rate_limit },
          payload.standard_rate_limit,
          payload.organisation_rate_limit,
        );
  if ('outcome' in granted) return granted;
  const event: IdentityEvent = {
    type: 'CredentialLimited',
    payload: { organisation_id, credential_id, ...granted, at },
    command_id: id,
  };
  const events = isSame(granted.rate_limit, managed.rate_limit) ? [] : [event];
  return doneWith(state, events, (after) =>
    managed.kind === 'token'
      ? tokenViewOf(after, organisation_id, credential_id)
      : accountViewOf(after, credential_id),
  );
}

function managedCredential(
  { kind, credential_id, requested_by, ou_id }: LimitCredential['payload'],
  state: OrganisationState,
): Credential | Rejection {
  const admin = adminIn(state, requested_by);
  if ('outcome' in admin) return admin;
  return kind === 'token'
    ? managedToken(state, { requested_by, token_id: credential_id, ou_id })
    : managedAccount(state, { requested_by, client_id: credential_id, ou_id });
}

/** Gives all credentials of an organisation together another limit, at most the configured one. */
export function limitOrganisation(
  { id, payload }: LimitOrganisation,
  state: OrganisationState,
): IdentityDecision {
  const { organisation_id, requested_by, organisation_rate_limit: configured, requested_at: at } = payload;
  const admin = adminIn(state, requested_by);
  if ('outcome' in admin) return admin;
  if (!covers(admin.ou_ids, null))
    return rejected(
      'org_unit_not_allowed',
      'The limits of the organisation count in every organizational unit, and only a credential for every one may change them.',
    );
  const before = state.organisation?.rate_limit ?? null;
  const rate_limit = payload.rate_limit === undefined ? before : payload.rate_limit;
  if (rate_limit && !isWithin(rate_limit, configured))
    return rejected(
      'rate_limit_not_allowed',
      `The system is configured for ${inWords(configured)} by all credentials of an organisation together, and ${inWords(rate_limit)} is more. Ask for less, or have its operator raise ORGANISATION_RATE_LIMIT_PER_MINUTE and ORGANISATION_RATE_LIMIT_BURST.`,
    );
  const event: IdentityEvent = {
    type: 'OrganisationLimited',
    payload: { organisation_id, rate_limit, at },
    command_id: id,
  };
  return doneWith(state, isSame(before, rate_limit) ? [] : [event], (after) =>
    limitsView(after.organisation, configured),
  );
}

/** The limits of an organisation as API answers show them. */
export function limitsView(
  organisation: Pick<Organisation, 'rate_limit'> | null,
  configured: OrganisationRateLimit,
) {
  const rate_limit = organisation?.rate_limit ?? null;
  return { rate_limit, effective_rate_limit: rate_limit ?? configured };
}

function isSame(one: OrganisationRateLimit | null, other: OrganisationRateLimit | null): boolean {
  return one?.per_minute === other?.per_minute && one?.burst === other?.burst;
}
