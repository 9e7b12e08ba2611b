// Decides on the commands of identity. Pure: time and ids come with the command. A repeated command has no events and the same
// answer.
import { actedBy } from '@lead-scoring/contracts';
import { createServiceAccount, revokeServiceAccount, rotateSecret } from './account-model.js';
import type { IdentityDecision } from './decision-model.js';
import { acceptInvitation, inviteMember } from './invitation-model.js';
import { admitMember } from './admission-model.js';
import { limitCredential, limitOrganisation, warnOfQuota } from './limit-model.js';
import { addMember, changeMember, removeMember } from './member-model.js';
import type { IdentityCommand } from './messages.js';
import { bootstrap } from './organisation-model.js';
import type { OrganisationState } from './state.js';
import { createToken, revokeToken } from './token-model.js';
import { createOrgUnit, endOrgUnit, renameOrgUnit, setActiveOrgUnit } from './unit-model.js';

export function decide(command: IdentityCommand, state: OrganisationState): IdentityDecision {
  const decision = decideCommand(command, state);
  if (decision.outcome === 'rejected') return decision;
  return { ...decision, events: actedBy(decision.events, command.payload) };
}

function decideCommand(command: IdentityCommand, state: OrganisationState): IdentityDecision {
  switch (command.type) {
    case 'BootstrapOrganisation':
      return bootstrap(command, state);
    case 'CreateOrgUnit':
      return createOrgUnit(command, state);
    case 'RenameOrgUnit':
      return renameOrgUnit(command, state);
    case 'EndOrgUnit':
      return endOrgUnit(command, state);
    case 'SetActiveOrgUnit':
      return setActiveOrgUnit(command, state);
    case 'CreateToken':
      return createToken(command, state);
    case 'CreateServiceAccount':
      return createServiceAccount(command, state);
    case 'RotateServiceAccountSecret':
      return rotateSecret(command, state);
    case 'RevokeToken':
      return revokeToken(command, state);
    case 'RevokeServiceAccount':
      return revokeServiceAccount(command, state);
    case 'LimitCredential':
      return limitCredential(command, state);
    case 'LimitOrganisation':
      return limitOrganisation(command, state);
    case 'WarnOfQuota':
      return warnOfQuota(command, state);
    case 'AddMember':
      return addMember(command, state);
    case 'ChangeMember':
      return changeMember(command, state);
    case 'InviteMember':
      return inviteMember(command, state);
    case 'RemoveMember':
      return removeMember(command, state);
    case 'AcceptInvitation':
      return acceptInvitation(command, state);
    case 'AdmitMember':
      return admitMember(command, state);
  }
}
