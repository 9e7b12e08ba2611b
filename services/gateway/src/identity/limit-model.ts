// Decides on commands about limits: of one credential, and of all credentials of an organisation together. Pure, like `decide`.
import { records } from '@lead-scoring/contracts';
import { accountViewOf } from './account-model.js';
import { grantedRateLimit, inWords, isWithin, managedAccount, managedToken } from './credential-model.js';
import {
  adminIn,
  doneWith,
  noSuchUnit,
  rejected,
  type IdentityDecision,
  type Rejection,
} from './decision-model.js';
import type {
  IdentityEvent,
  LimitCredential,
  LimitOrganisation,
  OrganisationRateLimit,
  Quotas,
  WarningChannel,
  WarnOfQuota,
} from './messages.js';
import {
  covers,
  type Credential,
  type Organisation,
  type OrganisationState,
  type WarnedQuota,
} from './state.js';
import { tokenViewOf } from './token-model.js';
import { isUsable } from './unit-model.js';

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
  const beyondUnits = refuseChannel(state, payload);
  if (beyondUnits) return beyondUnits;
  const before = { rate_limit: managed.rate_limit, ...quotaSettingsOf(managed) };
  const limits = { ...granted, ...quotaSettingsAfter(before, payload) };
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
  const beyondUnits = refuseChannel(state, payload);
  if (beyondUnits) return beyondUnits;
  const { organisation } = state;
  const before = { rate_limit: organisation?.rate_limit ?? null, ...quotaSettingsOf(organisation) };
  const rate_limit = payload.rate_limit === undefined ? before.rate_limit : payload.rate_limit;
  if (rate_limit && !isWithin(rate_limit, configured))
    return rejected(
      'rate_limit_not_allowed',
      `The system is configured for ${inWords(configured)} by all credentials of an organisation together, and ${inWords(rate_limit)} is more. Ask for less, or have its operator raise ORGANISATION_RATE_LIMIT_PER_MINUTE and ORGANISATION_RATE_LIMIT_BURST.`,
    );
  const limits = { rate_limit, ...quotaSettingsAfter(before, payload) };
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
  organisation: Pick<Organisation, 'rate_limit' | 'quotas' | 'warning_channel'> | null,
  configured: OrganisationRateLimit,
) {
  const rate_limit = organisation?.rate_limit ?? null;
  return {
    rate_limit,
    effective_rate_limit: rate_limit ?? configured,
    ...quotaSettingsOf(organisation),
  };
}

/** The quotas, and the channel that is told when one is nearly used. */
interface QuotaSettings {
  quotas: Quotas | null;
  warning_channel: WarningChannel | null;
}

interface SetLimits extends QuotaSettings {
  rate_limit: OrganisationRateLimit | null;
}

function quotaSettingsOf(owner: Pick<Organisation, 'quotas' | 'warning_channel'> | null): QuotaSettings {
  return { quotas: owner?.quotas ?? null, warning_channel: owner?.warning_channel ?? null };
}

/** The settings after a change; a field that is undefined stays. */
function quotaSettingsAfter(
  before: QuotaSettings,
  { quotas, warning_channel }: Pick<LimitOrganisation['payload'], keyof QuotaSettings>,
): QuotaSettings {
  return {
    quotas: quotasAfter(before.quotas, quotas),
    warning_channel: warning_channel === undefined ? before.warning_channel : warning_channel,
  };
}

/**
 * Refuses a channel of an OU that the administrator may not use. Whether the OU has the channel is known to the notification service, and
 * the gateway asks it before it sends the command.
 */
function refuseChannel(
  state: OrganisationState,
  { requested_by, warning_channel }: Pick<LimitOrganisation['payload'], 'requested_by' | 'warning_channel'>,
): Rejection | null {
  if (!warning_channel) return null;
  const admin = adminIn(state, requested_by);
  if ('outcome' in admin) return admin;
  return isUsable(state, admin, warning_channel.ou_id) ? null : noSuchUnit(warning_channel.ou_id);
}

function isSame(one: SetLimits, other: SetLimits): boolean {
  return (
    one.rate_limit?.per_minute === other.rate_limit?.per_minute &&
    one.rate_limit?.burst === other.rate_limit?.burst &&
    one.warning_channel?.ou_id === other.warning_channel?.ou_id &&
    one.warning_channel?.channel_id === other.warning_channel?.channel_id &&
    records.quotaNames.every((name) => one.quotas?.[name] === other.quotas?.[name])
  );
}

/** The quotas after a change; undefined: they stay. Quotas without a number are none. */
function quotasAfter(before: Quotas | null, wanted: Quotas | null | undefined): Quotas | null {
  if (wanted === undefined) return before;
  return wanted && records.quotaNames.some((name) => wanted[name] !== null) ? wanted : null;
}

/**
 * Records that a quota is nearly used: once for each period, and again where the quota was raised since. A later gateway, a second one, or one
 * that does not know yet of the raised quota records nothing.
 */
export function warnOfQuota({ id, payload }: WarnOfQuota, state: OrganisationState): IdentityDecision {
  const { requested_at: at, actor: _, ...warning } = payload;
  const { credential_id, quota } = warning;
  const owner = credential_id === null ? state.organisation : state.credentials.get(credential_id);
  const warned = owner?.warned?.[quota];
  if (!owner || (warned && !isFurther(warning, warned))) return { outcome: 'done', events: [] };
  const event: IdentityEvent = {
    type: 'QuotaNearlyUsed',
    payload: { ...warning, at },
    command_id: id,
  };
  return { outcome: 'done', events: [event] };
}

/** Whether a warning is of a later period than the last one, or of a higher limit in the same period. */
function isFurther(one: WarnedQuota, last: WarnedQuota): boolean {
  return one.period > last.period || (one.period === last.period && one.limit > last.limit);
}
