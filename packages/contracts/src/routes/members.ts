// Members: the people of an organisation, what each may do, and the links by which they join.
import { z } from 'zod';
import { id, name, page, pageParameters, someField, text, time } from '../common.js';
import { role } from '../records/gateway.js';
import { admin, defineRoute } from './route.js';

const common = { owner: 'gateway', access: { ...admin, organisationUnit: 'none' }, tag: 'Admin' } as const;

/** How long the link of an invitation can be used. */
export const invitationDays = 7;

// oxlint-disable-next-line no-control-regex
const addressForm = /^[^\s@\u0000-\u001f\u007f]+@[^\s@\u0000-\u001f\u007f]+$/;
const email = text(254, { minimum: 3, trimmed: true })
  .regex(addressForm, 'must be an e-mail address such as ada@example.com')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode')
  .toLowerCase()
  .meta({ example: 'ada@example.com' });

const ouIds = z
  .array(id)
  .min(1)
  .max(200)
  .nullable()
  .describe('The OUs in which the role counts. null: every OU of the organisation, also later ones.');

const memberView = {
  id,
  email: z.string().max(254).nullable().describe('null: the built-in member.'),
  name: z.string().max(100),
  role,
  ou_ids: z
    .array(id)
    .max(200)
    .nullable()
    .describe(
      'null: every OU, also later ones. Empty: the only one has ended, and the member can do nothing.',
    ),
  status: z.enum(['invited', 'active']).describe('invited: has not opened the link yet.'),
  built_in: z
    .boolean()
    .describe(
      'The member of the operator, whose tokens are the bootstrap token and those from before members.',
    ),
  invitation_expires_at: time.nullable().describe('null: there is no link that could be used.'),
  created_at: time,
};

export const member = z.strictObject(memberView).meta({ id: 'Member' });
export const invitedMember = z
  .strictObject({
    ...memberView,
    invitation_url: z
      .string()
      .max(3_000)
      .describe('For the person, once: opening it gives them their first token. Nobody else should see it.'),
  })
  .meta({ id: 'InvitedMember' });

export const listMembers = defineRoute({
  ...common,
  name: 'listMembers',
  method: 'GET',
  path: '/members',
  kind: 'local',
  summary: 'Members of the organisation, the earliest first',
  description: 'A credential that is limited to some OUs sees the members who may use no others.',
  query: z.strictObject(pageParameters),
  responses: { 200: { description: 'Members', schema: page(member) } },
  problems: [],
});

export const addMember = defineRoute({
  ...common,
  name: 'addMember',
  method: 'POST',
  path: '/members',
  kind: 'command',
  summary: 'Invite a member',
  description: `The answer shows \`invitation_url\` this once. It can be used once, within ${String(invitationDays)} days; send it to the person yourself. There are no passwords: the person gets a personal access token by it, and makes others with that one.`,
  body: z
    .strictObject({ email, name: name(100), role, ou_ids: ouIds.default(null) })
    .meta({ id: 'MemberForm' }),
  responses: { 201: { description: 'Invited', schema: invitedMember } },
  problems: ['duplicate_email', 'org_unit_not_found', 'org_unit_not_allowed', 'limit_reached'],
  showsSecret: true,
});

export const changeMember = defineRoute({
  ...common,
  name: 'changeMember',
  method: 'PATCH',
  path: '/members/{id}',
  kind: 'command',
  summary: 'Change the address, name, role or OUs of a member',
  description:
    'Fields that are absent stay. What the member may do changes with all of their tokens, in every gateway within ten seconds. The last admin of every OU stays one.',
  parameters: z.strictObject({ id }),
  body: z
    .strictObject({
      email: email.optional(),
      name: name(100).optional(),
      role: role.optional(),
      ou_ids: ouIds.optional(),
    })
    .refine(...someField)
    .meta({ id: 'MemberChange', minProperties: 1 }),
  responses: { 200: { description: 'Changed', schema: member } },
  problems: [
    'member_not_found',
    'duplicate_email',
    'org_unit_not_found',
    'org_unit_not_allowed',
    'last_admin',
    'built_in_member',
  ],
});

export const removeMember = defineRoute({
  ...common,
  name: 'removeMember',
  method: 'DELETE',
  path: '/members/{id}',
  kind: 'command',
  summary: 'Remove a member',
  description:
    'The tokens of the member end with them, in every gateway within ten seconds. What the member has made stays, service accounts too. The last admin of every OU stays.',
  parameters: z.strictObject({ id }),
  responses: { 204: { description: 'Removed' } },
  problems: ['member_not_found', 'last_admin'],
});

export const inviteMember = defineRoute({
  ...common,
  name: 'inviteMember',
  method: 'POST',
  path: '/members/{id}/invitation',
  kind: 'command',
  summary: 'Make a new link for a member who has no valid token',
  description:
    'For a link that has expired or was lost, and for a member who has lost their token. An earlier link ends. The answer shows `invitation_url` this once.',
  parameters: z.strictObject({ id }),
  responses: { 201: { description: 'Invited', schema: invitedMember } },
  problems: ['member_not_found', 'member_has_token', 'built_in_member'],
  showsSecret: true,
});

const open = {
  owner: 'gateway',
  kind: 'local',
  access: { credential: false },
  tag: 'Session',
  path: '/invitations/{token}',
  parameters: z.strictObject({
    token: z.string().min(1).max(200).describe('The end of the address of an invitation.'),
  }),
  problems: ['invitation_not_found', 'invitation_expired', 'database_unavailable'],
} as const;

export const getInvitation = defineRoute({
  ...open,
  name: 'getInvitation',
  method: 'GET',
  summary: 'What an invitation is for; it stays unused',
  responses: {
    200: {
      description: 'Invitation',
      schema: z
        .strictObject({
          organisation: z.string().max(100),
          email: z.string().max(254),
          name: z.string().max(100),
          role,
          expires_at: time,
        })
        .meta({ id: 'Invitation' }),
      alsoAs: ['text/html'],
    },
  },
});

export const acceptInvitation = defineRoute({
  ...open,
  name: 'acceptInvitation',
  method: 'POST',
  summary: 'Accept an invitation: the answer shows your first token this once',
  description: 'The link cannot be used again.',
  responses: {
    201: {
      description: 'Joined',
      schema: z
        .strictObject({
          member_id: id,
          name: z.string().max(100),
          role,
          ou_ids: z.array(id).max(200).nullable(),
          token: z.string().max(100),
        })
        .meta({ id: 'FirstToken' }),
      alsoAs: ['text/html'],
    },
  },
  problems: [...open.problems, 'limit_reached', 'log_unavailable', 'reply_timeout'],
});
