// The parts that all decisions of identity share.
import type { JsonValue, ProblemCode } from '@lead-scoring/contracts';
import type { IdentityEvent } from './messages.js';
import { evolve } from './evolve.js';
import type { Credential, OrganisationState } from './state.js';

/** The limits of one organisation. OUs and credentials that have ended do not count. */
export const identityLimits = {
  orgUnits: 1_000,
  tokens: 1_000,
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

/** The acting credential; rejected when it has ended, because the edge may let it in for a moment afterwards. */
export function actorIn(state: OrganisationState, id: string): Credential | Rejection {
  const actor = state.credentials.get(id);
  if (!actor || actor.revoked) return rejected('credential_invalid', 'The credential has ended.');
  return actor;
}

export function noSuchUnit(ouId: string): Rejection {
  return rejected(
    'org_unit_not_found',
    `There is no organizational unit ${ouId} that this credential may use.`,
  );
}
