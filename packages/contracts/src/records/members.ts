// Commands and events of members: the people of an organisation, each with a role and the organizational units in which it counts.
import { z } from 'zod';
import { id, name, time, wholeNumber } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { lastFour, rateLimit, role, secretHash } from './gateway.js';
import { defineRecord } from './record.js';

const member = { organisation_id: id, member_id: id };
const onMember = { topic: 'gateway.commands', key: 'organisation_id' } as const;
const ofMember = { topic: 'gateway.events', key: 'organisation_id' } as const;

const email = z.string().min(1).max(254);
const ouIds = z
  .array(id)
  .max(200)
  .nullable()
  .describe(
    'null: every OU of the organisation, also later ones; empty: none, because the only one has ended.',
  );

const invitation = {
  invitation_hash: secretHash.describe('SHA-256 of the secret in the link.'),
  invitation_expires_at: time,
};

export const addMember = defineRecord({
  ...onMember,
  type: 'AddMember',
  description: 'Invite a person to the organisation.',
  schema: z.strictObject({
    ...member,
    email,
    name: name(100),
    role,
    ou_ids: ouIds,
    ...invitation,
    standard_rate_limit: rateLimit,
    requested_by: id,
    ...requested,
  }),
});

export const changeMember = defineRecord({
  ...onMember,
  type: 'ChangeMember',
  description: 'Change a member; fields that are absent stay.',
  schema: z.strictObject({
    ...member,
    email: email.optional(),
    name: name(100).optional(),
    role: role.optional(),
    ou_ids: ouIds.optional(),
    requested_by: id,
    ...requested,
  }),
});

export const inviteMember = defineRecord({
  ...onMember,
  type: 'InviteMember',
  description: 'Make a new link for a member who has no valid token.',
  schema: z.strictObject({ ...member, ...invitation, requested_by: id, ...requested }),
});

export const removeMember = defineRecord({
  ...onMember,
  type: 'RemoveMember',
  description: 'Remove a member, and end the tokens of the member.',
  schema: z.strictObject({ ...member, requested_by: id, ...requested }),
});

export const acceptInvitation = defineRecord({
  ...onMember,
  type: 'AcceptInvitation',
  description: 'Use the link of an invitation: the person gets a first token.',
  schema: z.strictObject({
    ...member,
    invitation_hash: secretHash,
    token_id: id,
    token_hash: secretHash,
    last_four: lastFour,
    ...requested,
  }),
});

export const admitMember = defineRecord({
  ...onMember,
  type: 'AdmitMember',
  description:
    'A person has signed in with OpenID Connect: they have joined, and are made a member where the issuer may do that.',
  schema: z.strictObject({
    ...member,
    email,
    name: name(100),
    created: z
      .strictObject({ role, ou_ids: ouIds })
      .nullable()
      .describe('The rights of a new member; null: only who was invited may join.'),
    ...requested,
  }),
});

/** What a member is: each event that changes one has all of it, so that a reader needs no earlier event. */
const rights = { name: name(100), role, ou_ids: ouIds };

export const memberAdded = defineRecord({
  ...ofMember,
  type: 'MemberAdded',
  description:
    'A person belongs to the organisation. Of the built-in member: it is back, for a new operator’s token.',
  schema: z.strictObject({
    ...member,
    email: email.nullable().describe('null: of the built-in member.'),
    ...rights,
    invitation_hash: secretHash.nullable(),
    invitation_expires_at: time.nullable(),
    rate_limit: rateLimit.nullable().describe('Of the first token; null: the standard limit.'),
    created_by: id,
    ...happened,
  }),
});

export const memberChanged = defineRecord({
  ...ofMember,
  type: 'MemberChanged',
  description: 'A member has another address, name, role or OUs.',
  schema: z.strictObject({
    ...member,
    email: email.nullable(),
    ...rights,
    version: wholeNumber(2, 1_000_000_000).describe('The number of the state; that of MemberAdded is 1.'),
    ...happened,
  }),
});

export const memberInvited = defineRecord({
  ...ofMember,
  type: 'MemberInvited',
  description: 'A member has another link, in place of the earlier one.',
  schema: z.strictObject({ ...member, ...invitation, ...happened }),
});

export const memberJoined = defineRecord({
  ...ofMember,
  type: 'MemberJoined',
  description: 'The link of a member was used, and cannot be used again.',
  schema: z.strictObject({ ...member, ...happened }),
});

export const memberRemoved = defineRecord({
  ...ofMember,
  type: 'MemberRemoved',
  description: 'A person no longer belongs to the organisation.',
  schema: z.strictObject({ ...member, ...happened }),
});

export const memberRecords = [
  addMember,
  changeMember,
  inviteMember,
  removeMember,
  acceptInvitation,
  admitMember,
  memberAdded,
  memberChanged,
  memberInvited,
  memberJoined,
  memberRemoved,
] as const;
