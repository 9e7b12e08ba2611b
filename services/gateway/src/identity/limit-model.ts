// Decides on commands about limits: of one credential, and of all credentials of an organisation together. Pure, like `decide`.
import { records } from '@lead-scoring/contracts';
import { accountViewOf } from './account-model.js';
import { grantedRateLimit, inWords, isWithin, managedAccount, managedToken } from './credential-model.js';
import { adminIn, doneWith, rejected, type IdentityDecision, type Rejection } from './decision-model.js';
import type {
  IdentityEvent,
  LimitCredential,
  LimitOrganisation,
  OrganisationRateLimit,
  Quotas,
  WarnOfQuota,
} from './messages.js';
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
  const before = { rate_limit: managed.rate_limit, quotas: managed.quotas ?? null };
  const limits = { ...granted, quotas: quotasAfter(before.quotas, payload.quotas) };
  const event: IdentityEvent = {
    type: 'CredentialLimited',
    payload: { organisation_id, credential_id, ...limits, at },
    command_id: id,
  };
  const events = isSame(before, limits) ? [] : [event];
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
  const { organisation } = state;
  const before = { rate_limit: organisation?.rate_limit ?? null, quotas: organisation?.quotas ?? null };
  const rate_limit = payload.rate_limit === undefined ? before.rate_limit : payload.rate_limit;
  if (rate_limit && !isWithin(rate_limit, configured))
    return rejected(
      'rate_limit_not_allowed',
      `The system is configured for ${inWords(configured)} by all credentials of an organisation together, and ${inWords(rate_limit)} is more. Ask for less, or have its operator raise ORGANISATION_RATE_LIMIT_PER_MINUTE and ORGANISATION_RATE_LIMIT_BURST.`,
    );
  const limits = { rate_limit, quotas: quotasAfter(before.quotas, payload.quotas) };
  const event: IdentityEvent = {
    type: 'OrganisationLimited',
    payload: { organisation_id, ...limits, at },
    command_id: id,
  };
  return doneWith(state, isSame(before, limits) ? [] : [event], (after) =>
    limitsView(after.organisation, configured),
  );
}

/** The limits of an organisation as API answers show them. */
export function limitsView(
  organisation: Pick<Organisation, 'rate_limit' | 'quotas'> | null,
  configured: OrganisationRateLimit,
) {
  const rate_limit = organisation?.rate_limit ?? null;
  return {
    rate_limit,
    effective_rate_limit: rate_limit ?? configured,
    quotas: organisation?.quotas ?? null,
  };
}

interface SetLimits {
  rate_limit: OrganisationRateLimit | null;
  quotas: Quotas | null;
}

function isSame(one: SetLimits, other: SetLimits): boolean {
  return (
    one.rate_limit?.per_minute === other.rate_limit?.per_minute &&
    one.rate_limit?.burst === other.rate_limit?.burst &&
    records.quotaNames.every((name) => one.quotas?.[name] === other.quotas?.[name])
  );
}

/** The quotas after a change; undefined: they stay. Quotas without a number are none. */
function quotasAfter(before: Quotas | null, wanted: Quotas | null | undefined): Quotas | null {
  if (wanted === undefined) return before;
  return wanted && records.quotaNames.some((name) => wanted[name] !== null) ? wanted : null;
}

/** Records that a quota is nearly used, once for each period; a later gateway, or a second one, records nothing. */
export function warnOfQuota({ id, payload }: WarnOfQuota, state: OrganisationState): IdentityDecision {
  const { requested_at: at, actor: _, ...warning } = payload;
  const { credential_id, quota, period } = warning;
  const owner = credential_id === null ? state.organisation : state.credentials.get(credential_id);
  const warned = owner?.warned?.[quota];
  if (!owner || (warned !== undefined && warned >= period)) return { outcome: 'done', events: [] };
  const event: IdentityEvent = {
    type: 'QuotaNearlyUsed',
    payload: { ...warning, at },
    command_id: id,
  };
  return { outcome: 'done', events: [event] };
}
