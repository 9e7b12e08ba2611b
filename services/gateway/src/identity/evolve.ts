// Folds the events of identity into an organisation's state. Pure; never throws on a recorded event.
import { evolveMembers, withActiveUnit } from './member-fold-model.js';
import type { IdentityEvent, Quotas, WarningChannel } from './messages.js';
import type {
  Credential,
  Organisation,
  OrganisationState,
  OrgUnit,
  ServiceAccount,
  Token,
  WarnedQuotas,
} from './state.js';

const rememberedRotations = 100;

export function evolve(state: OrganisationState, event: IdentityEvent): OrganisationState {
  switch (event.type) {
    case 'OrganisationCreated':
      return { ...state, organisation: organisationOf(event.payload) };
    case 'OrgUnitCreated': {
      const { ou_id: id, name, created_by, at } = event.payload;
      return { ...state, units: new Map(state.units).set(id, { id, name, created_by, created_at: at }) };
    }
    case 'OrgUnitRenamed': {
      const { ou_id, name } = event.payload;
      return changeUnit(state, ou_id, (unit) => ({ ...unit, name }));
    }
    case 'OrgUnitEnded': {
      const { ou_id, at } = event.payload;
      const ended = { at, command_id: event.command_id };
      return changeUnit(state, ou_id, (unit) => ({ ...unit, ended }));
    }
    case 'ActiveOrgUnitSet': {
      const { credential_id, ou_id } = event.payload;
      if (state.members.has(credential_id))
        return { ...state, members: withActiveUnit(state.members, credential_id, ou_id) };
      return change(state, credential_id, (credential) => ({ ...credential, active_ou_id: ou_id }));
    }
    case 'OrgUnitGranted': {
      const { credential_id, ou_id } = event.payload;
      return change(state, credential_id, (credential) => ({
        ...credential,
        ou_ids: credential.ou_ids && [...new Set([...credential.ou_ids, ou_id])],
      }));
    }
    case 'OrgUnitWithdrawn': {
      const { credential_id, ou_id } = event.payload;
      return change(state, credential_id, (credential) => ({
        ...credential,
        ou_ids: credential.ou_ids && credential.ou_ids.filter((id) => id !== ou_id),
      }));
    }
    case 'CredentialLimited':
    case 'OrganisationLimited':
    case 'QuotaNearlyUsed':
      return limit(state, event);
    case 'TokenCreated':
      return put(state, tokenOf(event.payload));
    case 'ServiceAccountCreated':
      return put(state, serviceAccountOf(event.payload));
    case 'ServiceAccountSecretRotated':
      return changeAccount(state, event.payload.client_id, (account) => rotated(account, event));
    case 'MemberAdded':
    case 'MemberChanged':
    case 'MemberInvited':
    case 'MemberJoined':
    case 'MemberRemoved':
      return { ...state, members: evolveMembers(state.members, event) };
    case 'TokenRevoked':
      return revoke(state, event.payload.token_id, event);
    case 'ServiceAccountRevoked':
      return revoke(state, event.payload.client_id, event);
  }
}

type PayloadOf<Type extends IdentityEvent['type']> = Extract<IdentityEvent, { type: Type }>['payload'];

function organisationOf({ organisation_id: id, name, at }: PayloadOf<'OrganisationCreated'>): Organisation {
  return { id, name, created_at: at };
}

function tokenOf(payload: PayloadOf<'TokenCreated'>): Token {
  const { token_id: id, at, name, last_four, token_hash, role } = payload;
  const { ou_ids, expires_at, rate_limit, created_by, member_id } = payload;
  return {
    kind: 'token',
    id,
    ...(member_id !== undefined && { member_id }),
    name,
    token_hash,
    last_four,
    role,
    ou_ids,
    expires_at,
    rate_limit,
    created_by,
    created_at: at,
    active_ou_id: null,
    revoked: null,
  };
}

function serviceAccountOf(payload: PayloadOf<'ServiceAccountCreated'>): ServiceAccount {
  const { client_id: id, at, name, last_four, secret_hash, scopes } = payload;
  const { ou_ids, rate_limit, created_by } = payload;
  return {
    kind: 'service_account',
    id,
    name,
    secret_hash,
    last_four,
    scopes,
    ou_ids,
    rate_limit,
    created_by,
    previous_secret: null,
    rotations: [],
    created_at: at,
    active_ou_id: null,
    revoked: null,
  };
}

type LimitEvent = Extract<
  IdentityEvent,
  { type: 'CredentialLimited' | 'OrganisationLimited' | 'QuotaNearlyUsed' }
>;

function limit(state: OrganisationState, event: LimitEvent): OrganisationState {
  switch (event.type) {
    case 'OrganisationLimited':
      return changeOrganisation(state, limitsIn(event.payload));
    case 'CredentialLimited': {
      const limits = limitsIn(event.payload);
      return change(state, event.payload.credential_id, (credential) => ({ ...credential, ...limits }));
    }
    case 'QuotaNearlyUsed': {
      const { credential_id, quota, period, limit: warnedLimit } = event.payload;
      const warned = (before: WarnedQuotas | undefined) => ({
        warned: { ...before, [quota]: { period, limit: warnedLimit } },
      });
      return credential_id === null
        ? changeOrganisation(state, warned(state.organisation?.warned))
        : change(state, credential_id, (credential) => ({ ...credential, ...warned(credential.warned) }));
    }
  }
}

interface RecordedLimits<Limit> {
  rate_limit: Limit;
  quotas?: Quotas | null | undefined;
  warning_channel?: WarningChannel | null | undefined;
}

function limitsIn<Limit>({ rate_limit, quotas, warning_channel }: RecordedLimits<Limit>) {
  return {
    rate_limit,
    ...(quotas !== undefined && { quotas }),
    ...(warning_channel !== undefined && { warning_channel }),
  };
}

function changeOrganisation(state: OrganisationState, fields: Partial<Organisation>): OrganisationState {
  return { ...state, organisation: state.organisation && { ...state.organisation, ...fields } };
}

/** The account with its new secret; the previous secret stays valid until its time. */
function rotated(
  account: ServiceAccount,
  { payload, command_id }: Extract<IdentityEvent, { type: 'ServiceAccountSecretRotated' }>,
): ServiceAccount {
  const { secret_hash, last_four, previous_valid_until } = payload;
  return {
    ...account,
    secret_hash,
    last_four,
    previous_secret: { secret_hash: account.secret_hash, valid_until: previous_valid_until },
    rotations: [...account.rotations, command_id].slice(-rememberedRotations),
  };
}

function changeUnit(state: OrganisationState, id: string, to: (unit: OrgUnit) => OrgUnit): OrganisationState {
  const unit = state.units.get(id);
  return unit ? { ...state, units: new Map(state.units).set(id, to(unit)) } : state;
}

function put(state: OrganisationState, credential: Credential): OrganisationState {
  return { ...state, credentials: new Map(state.credentials).set(credential.id, credential) };
}

function change(
  state: OrganisationState,
  id: string,
  to: (credential: Credential) => Credential,
): OrganisationState {
  const credential = state.credentials.get(id);
  return credential ? put(state, to(credential)) : state;
}

function changeAccount(
  state: OrganisationState,
  id: string,
  to: (account: ServiceAccount) => ServiceAccount,
): OrganisationState {
  return change(state, id, (credential) =>
    credential.kind === 'service_account' ? to(credential) : credential,
  );
}

function revoke(
  state: OrganisationState,
  id: string,
  event: { payload: { at: string }; command_id: string },
): OrganisationState {
  return change(state, id, (credential) => ({
    ...credential,
    revoked: { at: event.payload.at, command_id: event.command_id },
  }));
}
