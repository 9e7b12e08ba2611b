// Folds the events of members. Pure; never throws on a recorded event.
import type { IdentityEvent } from './messages.js';
import { builtInMember, builtInMemberId, type Member } from './state.js';

type Members = ReadonlyMap<string, Member>;
type EventOf<Type extends IdentityEvent['type']> = Extract<IdentityEvent, { type: Type }>;
export type MemberEvent = EventOf<
  'MemberAdded' | 'MemberChanged' | 'MemberInvited' | 'MemberJoined' | 'MemberRemoved'
>;

export function evolveMembers(members: Members, event: MemberEvent): Members {
  switch (event.type) {
    case 'MemberAdded':
      return put(members, memberOf(event));
    case 'MemberChanged': {
      const { member_id, email, name, role, ou_ids, version } = event.payload;
      return change(members, member_id, (member) => ({ ...member, email, name, role, ou_ids, version }));
    }
    case 'MemberInvited': {
      const { member_id, invitation_hash: hash, invitation_expires_at: expires_at } = event.payload;
      const invitation = { hash, expires_at, command_id: event.command_id };
      return change(members, member_id, (member) => ({ ...member, invitation }));
    }
    case 'MemberJoined': {
      const { member_id, at } = event.payload;
      return change(members, member_id, (member) => ({
        ...member,
        invitation: null,
        joined_at: member.joined_at ?? at,
      }));
    }
    case 'MemberRemoved':
      return removed(members, event);
  }
}

/** The OU in which a member works who has signed in with OpenID Connect. */
export function withActiveUnit(members: Members, memberId: string, ouId: string): Members {
  return change(members, memberId, (member) => ({ ...member, active_ou_id: ouId }));
}

function memberOf({ payload, command_id }: EventOf<'MemberAdded'>): Member {
  const { organisation_id, member_id: id, email, name, role, ou_ids, rate_limit, created_by, at } = payload;
  const { invitation_hash: hash, invitation_expires_at: expires_at } = payload;
  if (id === builtInMemberId(organisation_id)) return builtInMember(organisation_id, at);
  return {
    id,
    email,
    name,
    role,
    ou_ids,
    rate_limit,
    version: 1,
    invitation: hash !== null && expires_at !== null ? { hash, expires_at, command_id } : null,
    joined_at: null,
    created_by,
    created_at: at,
    removed: null,
  };
}

/** The built-in member has no state before an event is about it. */
function removed(members: Members, { payload, command_id }: EventOf<'MemberRemoved'>): Members {
  const { organisation_id, member_id, at } = payload;
  const end = { at, command_id };
  if (member_id === builtInMemberId(organisation_id))
    return put(members, { ...builtInMember(organisation_id, at), removed: end });
  return change(members, member_id, (member) => ({ ...member, invitation: null, removed: end }));
}

function put(members: Members, member: Member): Members {
  return new Map(members).set(member.id, member);
}

function change(members: Members, id: string, to: (member: Member) => Member): Members {
  const member = members.get(id);
  return member ? put(members, to(member)) : members;
}
