// What a decision of identity is made of, whichever part of it decides.
import type { JsonValue, ProblemCode } from '@lead-scoring/contracts';
import type { IdentityEvent } from './messages.js';
import { evolve } from './evolve.js';
import type { Credential, OrganisationState } from './state.js';

/** Per organisation; of OUs and credentials those that have not ended count. */
export const identityLimits = {
  orgUnits: 1_000,
  tokens: 1_000,
  serviceAccounts: 1_000,
  /** OUs that a credential is limited to. */
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
  /** The resource as the route's answer shows it, without its secret; absent for 204. */
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

/** The credential that acts, as the log knows it: the edge may have let it in a moment after it ended. */
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
