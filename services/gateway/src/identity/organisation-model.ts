// Decides on the command that creates an organisation with its first OU and token. Pure, like `decide`.
import type { IdentityDecision } from './decision-model.js';
import type { BootstrapOrganisation, IdentityEvent } from './messages.js';
import { builtInMember, builtInMemberId, type OrganisationState } from './state.js';
import { activeSet, unitNamed } from './unit-model.js';

/** Creates the organisation, its first OU and the operator's token where they are missing; an ended token stays ended. */
export function bootstrap(
  { id, payload }: BootstrapOrganisation,
  state: OrganisationState,
): IdentityDecision {
  const { organisation_id, name, ou_id, ou_name, token_id, token_hash, token_last_four } = payload;
  const at = payload.requested_at;
  const events: IdentityEvent[] = [];
  if (!state.organisation)
    events.push({
      type: 'OrganisationCreated',
      payload: { organisation_id, name, at },
      command_id: id,
    });
  if (!state.units.has(ou_id) && !unitNamed(state, ou_name))
    events.push({
      type: 'OrgUnitCreated',
      payload: { organisation_id, ou_id, name: ou_name, created_by: token_id, at },
      command_id: id,
    });
  // A removed built-in member comes back with a new token: so an operator can always get in.
  if (!state.credentials.has(token_id)) {
    if (state.members.get(builtInMemberId(organisation_id))?.removed)
      events.push(builtInMemberAdded(organisation_id, at, id));
    events.push({
      type: 'TokenCreated',
      payload: {
        organisation_id,
        token_id,
        name: 'Bootstrap',
        token_hash,
        last_four: token_last_four,
        role: 'admin',
        ou_ids: null,
        expires_at: null,
        rate_limit: payload.token_rate_limit ?? null,
        created_by: token_id,
        at,
      },
      command_id: id,
    });
  }
  const unitId = state.units.has(ou_id) ? ou_id : (unitNamed(state, ou_name)?.id ?? ou_id);
  const token = state.credentials.get(token_id);
  // With an active OU, the token's calls still work when there is a second OU. An ended OU or token stays ended.
  if (!state.units.get(unitId)?.ended && (!token || (!token.revoked && token.active_ou_id === null)))
    events.push(activeSet({ organisation_id, credential_id: token_id, ou_id: unitId, at }, id));
  return { outcome: 'done', events };
}

function builtInMemberAdded(organisation_id: string, at: string, command_id: string): IdentityEvent {
  const {
    id: member_id,
    email,
    name,
    role,
    ou_ids,
    rate_limit,
    created_by,
  } = builtInMember(organisation_id, at);
  const none = { invitation_hash: null, invitation_expires_at: null };
  return {
    type: 'MemberAdded',
    payload: { organisation_id, member_id, email, name, role, ou_ids, rate_limit, created_by, ...none, at },
    command_id,
  };
}
