// The state of an organisation: its organizational units and the credentials that may use them.
import type { RateLimit, Role, Scope } from './messages.js';

export interface OrgUnit {
  id: string;
  name: string;
  created_by: string;
  created_at: string;
  /** Set when it has ended. It stays in the state, so that a repeat of the command that created it does not revive it. */
  ended?: { at: string; command_id: string };
}

interface CredentialState {
  id: string;
  name: string;
  last_four: string;
  /** null: every OU of the organisation, also later ones. */
  ou_ids: string[] | null;
  rate_limit: RateLimit | null;
  created_by: string;
  created_at: string;
  active_ou_id: string | null;
  /** Set when it has ended. It stays in the state, so that a repeat of the command that created it does not revive it. */
  revoked: { at: string; command_id: string } | null;
}

export interface Token extends CredentialState {
  kind: 'token';
  token_hash: string;
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
}

export interface OrganisationState {
  /** null before it is created. */
  organisation: Organisation | null;
  units: ReadonlyMap<string, OrgUnit>;
  credentials: ReadonlyMap<string, Credential>;
}

export const emptyOrganisation: OrganisationState = {
  organisation: null,
  units: new Map(),
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
  return (managed.ou_ids === null || managed.ou_ids.includes(ouId)) && covers(manager.ou_ids, managed.ou_ids);
}
