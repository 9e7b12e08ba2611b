// Decides on commands about members: add, change, remove. Pure, like `decide`.
import { grantedRateLimit, refuseUnits, secretNotReproducible } from './credential-model.js';
import {
  adminIn,
  done,
  identityLimits,
  rejected,
  type IdentityDecision,
  type Rejection,
} from './decision-model.js';
import type { AddMember, ChangeMember, IdentityEvent, RemoveMember } from './messages.js';
import {
  covers,
  memberIn,
  presentMembers,
  type Credential,
  type Member,
  type OrganisationState,
} from './state.js';
import { tokenRevoked, tokensOf } from './token-model.js';

export function addMember({ id, payload }: AddMember, state: OrganisationState): IdentityDecision {
  const { requested_at, requested_by, standard_rate_limit, ...fields } = payload;
  const known = state.members.get(fields.member_id);
  if (known)
    // A repeat after the link was used or replaced cannot show a valid one any more.
    return known.invitation?.hash === fields.invitation_hash
      ? { outcome: 'done', events: [], result: memberView(known) }
      : secretNotReproducible();
  const admin = adminIn(state, requested_by);
  if ('outcome' in admin) return admin;
  const refusal = refuseUnits(state, admin, fields.ou_ids) ?? refuseAddress(state, fields.email);
  if (refusal) return refusal;
  if (presentMembers(state).length >= identityLimits.members)
    return rejected(
      'limit_reached',
      `An organisation has at most ${String(identityLimits.members)} members. Remove one who has left.`,
    );
  // Nobody gives a higher limit than their own, also not through the first token of somebody else.
  const granted = grantedRateLimit(
    state,
    { created_by: requested_by, rate_limit: null },
    standard_rate_limit,
  );
  if ('outcome' in granted) return granted;
  return done(
    state,
    {
      type: 'MemberAdded',
      payload: { ...fields, ...granted, created_by: requested_by, at: requested_at },
      command_id: id,
    },
    (after) => viewOf(after, fields.member_id),
  );
}

export function changeMember({ id, payload }: ChangeMember, state: OrganisationState): IdentityDecision {
  const { organisation_id, member_id, requested_by, requested_at: at } = payload;
  const managed = managedMember(state, requested_by, member_id);
  if ('outcome' in managed) return managed;
  const { admin, member } = managed;
  if (member.email === null) return builtIn('changed. Add a member of your own, or remove this one');
  const changed = {
    email: payload.email ?? member.email,
    name: payload.name ?? member.name,
    role: payload.role ?? member.role,
    ou_ids: payload.ou_ids === undefined ? member.ou_ids : payload.ou_ids,
  };
  if (isSame(member, changed)) return { outcome: 'done', events: [], result: memberView(member) };
  const refusal =
    (payload.ou_ids === undefined ? null : refuseUnits(state, admin, payload.ou_ids)) ??
    refuseAddress(state, changed.email, member_id) ??
    refuseWithoutAdmin(state, { ...member, ...changed });
  if (refusal) return refusal;
  return done(
    state,
    {
      type: 'MemberChanged',
      payload: { organisation_id, member_id, ...changed, version: member.version + 1, at },
      command_id: id,
    },
    (after) => viewOf(after, member_id),
  );
}

/** Removes a member and ends their tokens. */
export function removeMember({ id, payload }: RemoveMember, state: OrganisationState): IdentityDecision {
  const { organisation_id, member_id, requested_by, requested_at: at } = payload;
  if (memberIn(state, member_id)?.removed?.command_id === id) return { outcome: 'done', events: [] };
  const managed = managedMember(state, requested_by, member_id);
  if ('outcome' in managed) return managed;
  const refusal = refuseWithoutAdmin(state, { ...managed.member, removed: { at, command_id: id } });
  if (refusal) return refusal;
  const ended = tokensOf(state, member_id).map((token) =>
    tokenRevoked({ organisation_id, token_id: token.id, at }, id),
  );
  const removed: IdentityEvent = {
    type: 'MemberRemoved',
    payload: { organisation_id, member_id, at },
    command_id: id,
  };
  return { outcome: 'done', events: [removed, ...ended] };
}

/** The member that an administrator wants to manage: one who may use no OU that the administrator may not use. */
export function managedMember(
  state: OrganisationState,
  adminId: string,
  memberId: string,
): { admin: Credential; member: Member } | Rejection {
  const admin = adminIn(state, adminId);
  if ('outcome' in admin) return admin;
  const member = memberIn(state, memberId);
  if (member && !member.removed && covers(admin.ou_ids, member.ou_ids)) return { admin, member };
  return rejected('member_not_found', 'There is no such member whom this credential may manage.');
}

export function builtIn(what: string): Rejection {
  return rejected(
    'built_in_member',
    `The built-in member, whose tokens are the operator's, cannot be ${what}.`,
  );
}

function isSame(member: Member, changed: Pick<Member, 'email' | 'name' | 'role' | 'ou_ids'>): boolean {
  const { email, name, role, ou_ids } = member;
  return JSON.stringify({ email, name, role, ou_ids }) === JSON.stringify(changed);
}

/** An address belongs to one member. */
function refuseAddress(state: OrganisationState, email: string, memberId?: string): Rejection | null {
  if (!presentMembers(state).some((one) => one.email === email && one.id !== memberId)) return null;
  return rejected(
    'duplicate_email',
    `There is a member with the address ${email} already. Change that one, or give another address.`,
  );
}

/** The organisation keeps a member who has joined, is an administrator, and may use every OU. */
function refuseWithoutAdmin(state: OrganisationState, changed: Member): Rejection | null {
  const keeps = presentMembers(state)
    .map((member) => (member.id === changed.id ? changed : member))
    .some(
      ({ role, ou_ids, joined_at, removed }) =>
        role === 'admin' && ou_ids === null && joined_at !== null && !removed,
    );
  if (keeps) return null;
  return rejected(
    'last_admin',
    'This is the last admin of every organizational unit who has joined, and the organisation must keep one. Make another member one first: PATCH /members/{id} with role admin and ou_ids null.',
  );
}

function viewOf(state: OrganisationState, memberId: string) {
  const member = memberIn(state, memberId);
  return member && memberView(member);
}

/** A member as API answers show it. */
export function memberView(member: Member) {
  return {
    id: member.id,
    email: member.email,
    name: member.name,
    role: member.role,
    ou_ids: member.ou_ids,
    status: member.joined_at === null ? ('invited' as const) : ('active' as const),
    built_in: member.email === null,
    invitation_expires_at: member.invitation?.expires_at ?? null,
    created_at: member.created_at,
  };
}
