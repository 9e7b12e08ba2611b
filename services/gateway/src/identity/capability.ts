// Organisations as a capability: one aggregate of an organisation with its OUs, members and credentials, whose commands only gateways can write.
import {
  aggregate,
  type AggregateDecision,
  type AggregateShape,
  type Refusal,
} from '@lead-scoring/capability';
import { records } from '@lead-scoring/contracts';
import { outgoing, type IncomingRecord, type OutgoingRecord } from '@lead-scoring/event-log';
import { quotaNotificationOf } from '../quotas/quota-notification-model.js';
import type { CommandSignature } from './command-signature.js';
import { decide } from './decide.js';
import type { IdentityCommand, IdentityEvent } from './messages.js';
import {
  evolveGuarded,
  noOrganisation,
  organisationStorage,
  type GuardedOrganisation,
} from './organisation-storage.js';
import type { OrganisationState } from './state.js';

interface Organisations extends AggregateShape {
  state: GuardedOrganisation;
  command: IdentityCommand;
  event: IdentityEvent;
}

export function organisations(signature: Pick<CommandSignature, 'isSigned'>) {
  return aggregate<Organisations>({
    name: 'organisations',
    commands: {
      BootstrapOrganisation: records.bootstrapOrganisation,
      CreateOrgUnit: records.createOrgUnit,
      RenameOrgUnit: records.renameOrgUnit,
      EndOrgUnit: records.endOrgUnit,
      SetActiveOrgUnit: records.setActiveOrgUnit,
      CreateToken: records.createToken,
      RevokeToken: records.revokeToken,
      CreateServiceAccount: records.createServiceAccount,
      RotateServiceAccountSecret: records.rotateServiceAccountSecret,
      RevokeServiceAccount: records.revokeServiceAccount,
      LimitCredential: records.limitCredential,
      LimitOrganisation: records.limitOrganisation,
      WarnOfQuota: records.warnOfQuota,
      AddMember: records.addMember,
      ChangeMember: records.changeMember,
      InviteMember: records.inviteMember,
      RemoveMember: records.removeMember,
      AcceptInvitation: records.acceptInvitation,
      AdmitMember: records.admitMember,
    },
    events: {
      OrganisationCreated: records.organisationCreated,
      OrgUnitCreated: records.orgUnitCreated,
      OrgUnitRenamed: records.orgUnitRenamed,
      OrgUnitEnded: records.orgUnitEnded,
      ActiveOrgUnitSet: records.activeOrgUnitSet,
      OrgUnitGranted: records.orgUnitGranted,
      OrgUnitWithdrawn: records.orgUnitWithdrawn,
      TokenCreated: records.tokenCreated,
      TokenRevoked: records.tokenRevoked,
      ServiceAccountCreated: records.serviceAccountCreated,
      ServiceAccountSecretRotated: records.serviceAccountSecretRotated,
      ServiceAccountRevoked: records.serviceAccountRevoked,
      CredentialLimited: records.credentialLimited,
      OrganisationLimited: records.organisationLimited,
      QuotaNearlyUsed: records.quotaNearlyUsed,
      MemberAdded: records.memberAdded,
      MemberChanged: records.memberChanged,
      MemberInvited: records.memberInvited,
      MemberJoined: records.memberJoined,
      MemberRemoved: records.memberRemoved,
    },
    keyOf: ({ payload }) => payload.organisation_id,
    initial: () => noOrganisation,
    refuse: (record) => (signature.isSigned(record) ? null : unsigned),
    commandFrom: ({ type, payload, headers }) => ({ type, payload, id: headers.id }) as IdentityCommand,
    decide: (command, { state }) => decideWithNotifications(command, state),
    evolve: evolveGuarded,
    eventFrom: ({ type, payload, headers }) =>
      ({ type, payload, command_id: headers['causation-id'] ?? headers.id }) as IdentityEvent,
    headersOf: headersOfEvent,
    stored: organisationStorage,
  });
}

/** A warning of a quota goes to its channel in the transaction that records it. */
function decideWithNotifications(
  command: IdentityCommand,
  state: OrganisationState,
): AggregateDecision<Organisations> {
  const decision = decide(command, state);
  if (decision.outcome === 'rejected') return decision;
  const commands = decision.events.flatMap((event): OutgoingRecord[] => {
    const payload = event.type === 'QuotaNearlyUsed' ? quotaNotificationOf(event.payload, state) : null;
    return payload ? [outgoing(records.requestNotification, { key: payload.channel_id, payload })] : [];
  });
  return { ...decision, commands };
}

/** The reason in the dead letter, and in the reply to a gateway whose secret differs. */
const notSigned =
  "it is not signed with this system's TOKEN_SECRET: every gateway must have the same one, or have it as TOKEN_SECRET_PREVIOUS or TOKEN_SECRET_NEXT, and nothing else may write such commands";

const unsigned: Refusal = {
  reason: notSigned,
  rejection: {
    outcome: 'rejected',
    code: 'service_unavailable',
    message: `The command was not carried out: ${notSigned}.`,
  },
};

function headersOfEvent({ command_id }: IdentityEvent, { headers }: IncomingRecord): Record<string, string> {
  const { actor, 'correlation-id': correlationId } = headers;
  return {
    'causation-id': command_id,
    ...(actor !== undefined && { actor }),
    ...(correlationId !== undefined && { 'correlation-id': correlationId }),
  };
}
