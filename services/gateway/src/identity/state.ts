// The state of an organisation: its organizational units, its members, and the credentials that may use them.
import { nameBasedId } from '@lead-scoring/contracts';
import type {
  OrganisationRateLimit,
  QuotaName,
  Quotas,
  RateLimit,
  Role,
  Scope,
  WarningChannel,
} from './messages.js';

export interface OrgUnit {
  id: string;
  name: string;
  created_by: string;
  created_at: string;
  /** Set when it has ended. It stays in the state, so that a repeat of the command that created it does not revive it. */
  ended?: { at: string; command_id: string };
}

/** A person of the organisation. */
export interface Member {
  id: string;
  /** In lower case; null: of the built-in member. */
  email: string | null;
  name: string;
  role: Role;
  /** null: every OU of the organisation, also later ones; empty: none, because the only one has ended. */
  ou_ids: string[] | null;
  /** Of the first token; null: the standard limit. */
  rate_limit: RateLimit | null;
  /** The number of this state of role and OUs; it grows with each change. */
  version: number;
  /** The link that can be used; null: none. */
  invitation: { hash: string; expires_at: string; command_id: string } | null;
  /** The OU that a session of OpenID Connect works in; absent: none was set. */
  active_ou_id?: string;
  /** When the first link was used, or the person first signed in; null: not yet. */
  joined_at: string | null;
  created_by: string;
  created_at: string;
  /** Set when removed. It stays in the state, so that a repeat of the command that added it does not bring it back. */
  removed: { at: string; command_id: string } | null;
}

/** The last warning of a quota: the beginning of its period, and the largest limit in that period of which it was said. */
export interface WarnedQuota {
  period: string;
  limit: number;
}

export type WarnedQuotas = Partial<Record<QuotaName, WarnedQuota>>;

interface CredentialState {
  id: string;
  name: string;
  last_four: string;
  /** null: every OU of the organisation, also later ones. */
  ou_ids: string[] | null;
  rate_limit: RateLimit | null;
  /** null and absent: none. */
  quotas?: Quotas | null;
  /** Is told of quotas that are nearly used; null and absent: the organisation's. */
  warning_channel?: WarningChannel | null;
  warned?: WarnedQuotas;
  created_by: string;
  created_at: string;
  active_ou_id: string | null;
  /** Set when it has ended. It stays in the state, so that a repeat of the command that created it does not revive it. */
  revoked: { at: string; command_id: string } | null;
}

export interface Token extends CredentialState {
  kind: 'token';
  token_hash: string;
  /** Absent: the token is the built-in member's. */
  member_id?: string;
  /** At most this, within what the member may do at the moment of use. */
  role: Role;
  expires_at: string | null;
}

export interface ServiceAccount extends CredentialState {
  kind: 'service_account';
  secret_hash: string;
  previous_secret: { secret_hash: string; valid_until: string } | null;
  scopes: Scope[];
  /** Ids of the latest rotation commands: a repeat of one changes nothing. */
  rotations: string[];
}

export type Credential = Token | ServiceAccount;

export interface Organisation {
  id: string;
  name: string;
  created_at: string;
  /** Of all credentials together; null and absent: the configured limit. */
  rate_limit?: OrganisationRateLimit | null;
  /** Of all credentials together; null and absent: none. */
  quotas?: Quotas | null;
  /** Is told of quotas that are nearly used, also of those of credentials without a channel of their own; null and absent: none. */
  warning_channel?: WarningChannel | null;
  warned?: WarnedQuotas;
}

export interface OrganisationState {
  /** null before it is created. */
  organisation: Organisation | null;
  units: ReadonlyMap<string, OrgUnit>;
  /** Without the built-in member, as long as no event is about it: see `memberIn`. */
  members: ReadonlyMap<string, Member>;
  credentials: ReadonlyMap<string, Credential>;
}

export const emptyOrganisation: OrganisationState = {
  organisation: null,
  units: new Map(),
  members: new Map(),
  credentials: new Map(),
};

/** The OUs that a credential may use: those that have not ended. */
export function usableUnits(
  { units }: Pick<OrganisationState, 'units'>,
  { ou_ids }: Pick<Credential, 'ou_ids'>,
): OrgUnit[] {
  return [...units.values()].filter(({ id, ended }) => !ended && (ou_ids === null || ou_ids.includes(id)));
}

/**
 * The OU in which a credential works when a request names none: its active one, else the only one that it may use.
 * null: the caller must name one. An active OU that has ended is not replaced by another one.
 */
export function workingUnit(usable: readonly string[], activeOuId: string | null): string | null {
  if (activeOuId !== null) return usable.includes(activeOuId) ? activeOuId : null;
  const [only] = usable;
  return only !== undefined && usable.length === 1 ? only : null;
}

/** The scopes that a role grants: tokens and service accounts have the same scopes. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ['read'],
  editor: ['ingest', 'read', 'write'],
  admin: ['ingest', 'read', 'write', 'admin'],
};

export function scopesOf(credential: Credential): readonly Scope[] {
  return credential.kind === 'token' ? scopesOfRole[credential.role] : credential.scopes;
}

/** The roles, the least first. */
const roles: readonly Role[] = ['viewer', 'editor', 'admin'];

export function hasRole(role: Role, least: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(least);
}

export function lesserRole(one: Role, other: Role): Role {
  return hasRole(one, other) ? other : one;
}

/** The OUs in both lists; null is every OU. */
export function commonUnits(one: string[] | null, other: string[] | null): string[] | null {
  if (one === null) return other;
  return other === null ? one : one.filter((ouId) => other.includes(ouId));
}

/** What a token may do at this moment: its own role and OUs, within its member's. */
export function tokenWithin<Some extends Token>(
  token: Some,
  { role, ou_ids }: Pick<Member, 'role' | 'ou_ids'>,
): Some {
  return { ...token, role: lesserRole(token.role, role), ou_ids: commonUnits(token.ou_ids, ou_ids) };
}

/**
 * The id of the built-in member of an organisation: an administrator of every OU, whose tokens are the bootstrap token and those from
 * before there were members.
 */
export function builtInMemberId(organisationId: string): string {
  return nameBasedId(organisationId, 'built-in member');
}

export function builtInMember(organisationId: string, createdAt: string): Member {
  const id = builtInMemberId(organisationId);
  return {
    id,
    email: null,
    name: 'Built-in administrator',
    role: 'admin',
    ou_ids: null,
    rate_limit: null,
    version: 1,
    invitation: null,
    joined_at: createdAt,
    created_by: id,
    created_at: createdAt,
    removed: null,
  };
}

/**
 * A member of the organisation, also a removed one. The built-in member exists from the beginning of the organisation, without an event:
 * so the logs from before there were members have one too.
 */
export function memberIn(
  { members, organisation }: Pick<OrganisationState, 'members' | 'organisation'>,
  memberId: string,
): Member | undefined {
  const member = members.get(memberId);
  if (member || organisation === null) return member;
  return memberId === builtInMemberId(organisation.id)
    ? builtInMember(organisation.id, organisation.created_at)
    : undefined;
}

/** All members who have not been removed, the built-in one among them. */
export function presentMembers(state: Pick<OrganisationState, 'members' | 'organisation'>): Member[] {
  const { organisation, members } = state;
  const builtIn = organisation && memberIn(state, builtInMemberId(organisation.id));
  const others = [...members.values()].filter(({ id }) => id !== builtIn?.id);
  return [...(builtIn ? [builtIn] : []), ...others].filter(({ removed }) => !removed);
}

/** What a member who has signed in with OpenID Connect acts with: a token, as it were, that has the member's id and all their rights. */
export function sessionOf(member: Member): Token {
  const { id, name, role, ou_ids, rate_limit, created_by, created_at, active_ou_id = null } = member;
  return {
    kind: 'token',
    id,
    member_id: id,
    name,
    token_hash: '',
    last_four: '',
    role,
    ou_ids,
    rate_limit,
    expires_at: null,
    created_by,
    created_at,
    active_ou_id,
    revoked: null,
  };
}

/** The member whose token it is. */
export function memberIdOf(token: Pick<Token, 'member_id'>, organisationId: string): string {
  return token.member_id ?? builtInMemberId(organisationId);
}

/** Whether one list of OUs contains all of another; null is every OU. */
export function covers(ouIds: readonly string[] | null, others: readonly string[] | null): boolean {
  if (ouIds === null) return true;
  return others !== null && others.every((ouId) => ouIds.includes(ouId));
}

/**
 * Whether a credential that works in an OU may see and end another one: that one must be usable in the OU, and may use no OU that
 * its manager may not use.
 */
export function mayManage(manager: Pick<Credential, 'ou_ids'>, managed: Credential, ouId: string): boolean {
  if (managed.revoked) return false;
  const { ou_ids } = managed;
  // A token that may use no OU any more is shown in all of them.
  const isOfUnit = ou_ids === null || ou_ids.length === 0 || ou_ids.includes(ouId);
  return isOfUnit && covers(manager.ou_ids, ou_ids);
}

export interface TokenManager {
  ou_ids: string[] | null;
  isAdmin: boolean;
  /** null: a service account. */
  memberId: string | null;
}

/**
 * Whether a credential may see and end a token: an administrator's those of all members, others those of their own member.
 * @param token within its member's rights
 */
export function mayManageToken(
  manager: TokenManager,
  token: Token,
  { ownerId, ouId }: { ownerId: string; ouId: string },
): boolean {
  return (manager.isAdmin || manager.memberId === ownerId) && mayManage(manager, token, ouId);
}
