// Commands of identity, as they come from the log, and its events, each with the id of the command that caused it.
import type { PayloadOf, RecordDeclaration, records } from '@lead-scoring/contracts';

export type Role = records.Role;
export type Scope = records.Scope;

type CommandOf<Declaration extends RecordDeclaration> = {
  type: Declaration['type'];
  /** The id of the command: a second command with the same id is a repeat. */
  id: string;
  payload: PayloadOf<Declaration>;
};

export type BootstrapOrganisation = CommandOf<typeof records.bootstrapOrganisation>;
export type CreateOrgUnit = CommandOf<typeof records.createOrgUnit>;
export type RenameOrgUnit = CommandOf<typeof records.renameOrgUnit>;
export type EndOrgUnit = CommandOf<typeof records.endOrgUnit>;
export type SetActiveOrgUnit = CommandOf<typeof records.setActiveOrgUnit>;
export type CreateToken = CommandOf<typeof records.createToken>;
export type RevokeToken = CommandOf<typeof records.revokeToken>;
export type CreateServiceAccount = CommandOf<typeof records.createServiceAccount>;
export type RotateServiceAccountSecret = CommandOf<typeof records.rotateServiceAccountSecret>;
export type RevokeServiceAccount = CommandOf<typeof records.revokeServiceAccount>;

export type LimitCredential = CommandOf<typeof records.limitCredential>;
export type WarnOfQuota = CommandOf<typeof records.warnOfQuota>;
export type LimitOrganisation = CommandOf<typeof records.limitOrganisation>;

export type AddMember = CommandOf<typeof records.addMember>;
export type ChangeMember = CommandOf<typeof records.changeMember>;
export type InviteMember = CommandOf<typeof records.inviteMember>;
export type RemoveMember = CommandOf<typeof records.removeMember>;
export type AdmitMember = CommandOf<typeof records.admitMember>;
export type AcceptInvitation = CommandOf<typeof records.acceptInvitation>;

export type IdentityCommand =
  | BootstrapOrganisation
  | CreateOrgUnit
  | RenameOrgUnit
  | EndOrgUnit
  | SetActiveOrgUnit
  | CreateToken
  | RevokeToken
  | CreateServiceAccount
  | RotateServiceAccountSecret
  | RevokeServiceAccount
  | LimitCredential
  | LimitOrganisation
  | WarnOfQuota
  | AddMember
  | ChangeMember
  | InviteMember
  | RemoveMember
  | AcceptInvitation
  | AdmitMember;

export type RateLimit = NonNullable<CreateToken['payload']['rate_limit']>;
export type Quotas = records.Quotas;
export type QuotaName = records.QuotaName;
export type WarningChannel = records.WarningChannel;
export type OrganisationRateLimit = LimitOrganisation['payload']['organisation_rate_limit'];

type EventOf<Declaration extends RecordDeclaration> = {
  type: Declaration['type'];
  payload: PayloadOf<Declaration>;
  /** The header `causation-id`. */
  command_id: string;
};

export type IdentityEvent =
  | EventOf<typeof records.organisationCreated>
  | EventOf<typeof records.orgUnitCreated>
  | EventOf<typeof records.orgUnitRenamed>
  | EventOf<typeof records.orgUnitEnded>
  | EventOf<typeof records.activeOrgUnitSet>
  | EventOf<typeof records.orgUnitGranted>
  | EventOf<typeof records.orgUnitWithdrawn>
  | EventOf<typeof records.tokenCreated>
  | EventOf<typeof records.tokenRevoked>
  | EventOf<typeof records.serviceAccountCreated>
  | EventOf<typeof records.serviceAccountSecretRotated>
  | EventOf<typeof records.serviceAccountRevoked>
  | EventOf<typeof records.credentialLimited>
  | EventOf<typeof records.organisationLimited>
  | EventOf<typeof records.quotaNearlyUsed>
  | EventOf<typeof records.memberAdded>
  | EventOf<typeof records.memberChanged>
  | EventOf<typeof records.memberInvited>
  | EventOf<typeof records.memberJoined>
  | EventOf<typeof records.memberRemoved>;
