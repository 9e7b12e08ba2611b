// Decides on commands about the links by which members join: make a new one, use one. Pure, like `decide`.
import { liveCredentials, secretNotReproducible } from './credential-model.js';
import { doneWith, identityLimits, rejected, type IdentityDecision } from './decision-model.js';
import { builtIn, managedMember, memberView } from './member-model.js';
import type { AcceptInvitation, IdentityEvent, InviteMember } from './messages.js';
import type { Member, OrganisationState } from './state.js';
import { tokensOf } from './token-model.js';

/** Only for a member without a valid token: otherwise an administrator could take the place of a member who works. */
export function inviteMember({ id, payload }: InviteMember, state: OrganisationState): IdentityDecision {
  const { requested_at: at, requested_by, ...fields } = payload;
  const { member_id } = fields;
  const known = state.members.get(member_id);
  if (known?.invitation?.command_id === id)
    return known.invitation.hash === fields.invitation_hash
      ? { outcome: 'done', events: [], result: memberView(known) }
      : secretNotReproducible();
  const managed = managedMember(state, requested_by, member_id);
  if ('outcome' in managed) return managed;
  if (managed.member.email === null)
    return builtIn('invited. Its tokens come from BOOTSTRAP_TOKEN of the gateway');
  const valid = tokensOf(state, member_id).some(({ expires_at }) => expires_at === null || expires_at > at);
  if (valid)
    return rejected(
      'member_has_token',
      'This member has a valid token, and makes others with it. For a member who has lost it, end it first (DELETE /settings/tokens/{id}).',
    );
  return doneWith(state, [{ type: 'MemberInvited', payload: { ...fields, at }, command_id: id }], (after) => {
    const member = after.members.get(member_id);
    return member && memberView(member);
  });
}

/** Uses up the link, and gives its member a token that may do all that the member may. */
export function acceptInvitation(
  { id, payload }: AcceptInvitation,
  state: OrganisationState,
): IdentityDecision {
  const { member_id, invitation_hash, token_id, token_hash } = payload;
  const member = state.members.get(member_id);
  const known = state.credentials.get(token_id);
  if (known && member)
    return known.kind === 'token' && known.token_hash === token_hash
      ? { outcome: 'done', events: [], result: joinedView(member) }
      : secretNotReproducible();
  if (!member || member.removed || member.invitation?.hash !== invitation_hash)
    return rejected(
      'invitation_not_found',
      'This invitation was used or replaced by a newer one. Ask for a new link.',
    );
  const { expires_at } = member.invitation;
  if (expires_at <= payload.requested_at)
    return rejected(
      'invitation_expired',
      `This invitation could be used until ${expires_at}. Ask for a new link.`,
    );
  if (liveCredentials(state, 'token') >= identityLimits.tokens)
    return rejected(
      'limit_reached',
      `An organisation has at most ${String(identityLimits.tokens)} tokens. Ask an admin to end one that is not used.`,
    );
  return doneWith(state, joiningOf(member, payload, id), (after) => {
    const joined = after.members.get(member_id);
    return joined && joinedView(joined);
  });
}

function joiningOf(
  { rate_limit }: Member,
  {
    organisation_id,
    member_id,
    token_id,
    token_hash,
    last_four,
    requested_at: at,
  }: AcceptInvitation['payload'],
  command_id: string,
): IdentityEvent[] {
  return [
    { type: 'MemberJoined', payload: { organisation_id, member_id, at }, command_id },
    {
      type: 'TokenCreated',
      payload: {
        organisation_id,
        token_id,
        name: 'First token',
        token_hash,
        last_four,
        role: 'admin',
        ou_ids: null,
        expires_at: null,
        rate_limit,
        member_id,
        created_by: token_id,
        at,
      },
      command_id,
    },
  ];
}

function joinedView({ id, name, role, ou_ids }: Member) {
  return { member_id: id, name, role, ou_ids };
}
