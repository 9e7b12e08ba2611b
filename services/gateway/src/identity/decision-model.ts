// The parts that all decisions of identity share.
import type { JsonValue, ProblemCode } from '@lead-scoring/contracts';
import type { IdentityEvent } from './messages.js';
import { evolve } from './evolve.js';
import {
  memberIdOf,
  memberIn,
  scopesOf,
  sessionOf,
  tokenWithin,
  type Credential,
  type Member,
  type OrganisationState,
} from './state.js';

/** The limits of one organisation. OUs and credentials that have ended do not count. */
export const identityLimits = {
  orgUnits: 1_000,
  members: 1_000,
  tokens: 1_000,
  /** The built-in member, who has the tokens from before members, may have all of them. */
  tokensOfMember: 100,
  serviceAccounts: 1_000,
  /** The most OUs in the list of one credential. */
  orgUnitsOfCredential: 200,
};

export interface Rejection {
  outcome: 'rejected';
  code: ProblemCode;
  message: string;
}

export interface Accepted {
  outcome: 'done';
  events: IdentityEvent[];
  /** The body of the route's answer, without secrets; absent for 204. */
  result?: JsonValue;
}

export type IdentityDecision = Accepted | Rejection;

export function rejected(code: ProblemCode, message: string): Rejection {
  return { outcome: 'rejected', code, message };
}

export function done(
  state: OrganisationState,
  event: IdentityEvent,
  view: (after: OrganisationState) => JsonValue | undefined,
): Accepted {
  return doneWith(state, [event], view);
}

export function doneWith(
  state: OrganisationState,
  events: IdentityEvent[],
  view: (after: OrganisationState) => JsonValue | undefined,
): Accepted {
  const result = view(events.reduce(evolve, state));
  return { outcome: 'done', events, ...(result !== undefined && { result }) };
}

/**
 * The acting credential, a token within what its member may do now; rejected when it has ended, because the edge may let it in for a
 * moment afterwards.
 */
export function actorIn(state: OrganisationState, id: string): Credential | Rejection {
  const actor = state.credentials.get(id) ?? sessionIn(state, id);
  if (actor && !actor.revoked && !ownerOf(state, actor)?.removed) return withinMember(state, actor);
  return rejected('credential_invalid', 'The credential has ended.');
}

/** A member who has signed in with OpenID Connect acts under their own id. */
function sessionIn(state: OrganisationState, memberId: string): Credential | undefined {
  const member = state.members.get(memberId);
  return member && member.joined_at !== null ? sessionOf(member) : undefined;
}

/** The acting credential, which must still be an administrator's: the edge may let in a demoted one for a moment. */
export function adminIn(state: OrganisationState, id: string): Credential | Rejection {
  const actor = actorIn(state, id);
  if ('outcome' in actor || scopesOf(actor).includes('admin')) return actor;
  return rejected('role_not_allowed', 'This needs the role admin, which this credential no longer has.');
}

/** What a credential may do at this moment: a token no more than its member. */
export function withinMember(state: OrganisationState, credential: Credential): Credential {
  const member = ownerOf(state, credential);
  return credential.kind === 'token' && member ? tokenWithin(credential, member) : credential;
}

/** The member whose token it is; undefined for a service account. */
export function ownerOf(state: OrganisationState, credential: Credential): Member | undefined {
  if (credential.kind === 'service_account' || state.organisation === null) return undefined;
  return memberIn(state, memberIdOf(credential, state.organisation.id));
}

export function noSuchUnit(ouId: string): Rejection {
  return rejected(
    'org_unit_not_found',
    `There is no organizational unit ${ouId} that this credential may use.`,
  );
}
