// Decides on the admission of a person who has signed in with OpenID Connect. Pure, like `decide`.
import { doneWith, identityLimits, rejected, type IdentityDecision } from './decision-model.js';
import { memberView } from './member-model.js';
import type { AdmitMember, IdentityEvent } from './messages.js';
import { builtInMemberId, presentMembers, type OrganisationState } from './state.js';

/**
 * Who was invited has joined; anybody else becomes a member if the issuer may make members. Who was removed does not come back by signing
 * in: an admin must add them again.
 */
export function admitMember({ id, payload }: AdmitMember, state: OrganisationState): IdentityDecision {
  const { organisation_id, email, name, created, requested_at: at } = payload;
  const present = presentMembers(state).find((member) => member.email === email);
  if (present) {
    const joined: IdentityEvent = {
      type: 'MemberJoined',
      payload: { organisation_id, member_id: present.id, at },
      command_id: id,
    };
    return doneWith(state, present.joined_at === null ? [joined] : [], (after) => viewOf(after, present.id));
  }
  const wasRemoved = [...state.members.values()].some((member) => member.email === email);
  if (created === null || wasRemoved || !state.organisation)
    return rejected('member_not_found', 'Nobody with this address was invited.');
  if (presentMembers(state).length >= identityLimits.members)
    return rejected('limit_reached', 'The organisation has as many members as it may have.');
  const { member_id } = payload;
  const none = { invitation_hash: null, invitation_expires_at: null, rate_limit: null };
  const created_by = builtInMemberId(organisation_id);
  const added: IdentityEvent[] = [
    {
      type: 'MemberAdded',
      payload: { organisation_id, member_id, email, name, ...created, ...none, created_by, at },
      command_id: id,
    },
    { type: 'MemberJoined', payload: { organisation_id, member_id, at }, command_id: id },
  ];
  return doneWith(state, added, (after) => viewOf(after, member_id));
}

function viewOf(state: OrganisationState, memberId: string) {
  const member = state.members.get(memberId);
  return member && memberView(member);
}
