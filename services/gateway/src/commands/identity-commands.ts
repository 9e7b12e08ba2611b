// Commands about the gateway's own organisations: their OUs, members, tokens and service accounts.
import { records, routeDeclarations } from '@lead-scoring/contracts';
import { deriveSecret } from '../credentials/derived-secrets.js';
import { lesserRole } from '../identity/state.js';
import {
  command,
  distinctIds,
  inOrganisation,
  ouOf,
  type CommandBuilders,
  type CommandContext,
} from './command-building.js';

export const identityCommands = {
  setActiveOrgUnit: (input) =>
    command(records.setActiveOrgUnit, input.organisationId, {
      ...inOrganisation(input),
      credential_id: input.credentialId,
      ou_id: input.body.ouId.toLowerCase(),
    }),

  createOrgUnit: (input) =>
    command(records.createOrgUnit, input.organisationId, {
      ...inOrganisation(input),
      ou_id: input.commandId,
      name: input.body.name,
      created_by: input.credentialId,
    }),

  renameOrgUnit: (input) =>
    command(records.renameOrgUnit, input.organisationId, {
      ...inOrganisation(input),
      ou_id: input.parameters.id.toLowerCase(),
      name: input.body.name,
      requested_by: input.credentialId,
    }),

  endOrgUnit: (input) =>
    command(records.endOrgUnit, input.organisationId, {
      ...inOrganisation(input),
      ou_id: input.parameters.id.toLowerCase(),
      requested_by: input.credentialId,
    }),

  createToken: (input) => {
    const { secret, hash, lastFour } = deriveSecret('lsp_', input.commandId, input.tokenSecret);
    const { name, role, expires_at, ou_ids, rate_limit } = input.body;
    const built = command(records.createToken, input.organisationId, {
      ...inOrganisation(input),
      token_id: input.commandId,
      name,
      token_hash: hash,
      last_four: lastFour,
      role: role ?? lesserRole('editor', input.role),
      ou_ids: distinctIds(ou_ids ?? [ouOf(input)]),
      expires_at: expires_at ?? null,
      rate_limit: rate_limit ?? null,
      standard_rate_limit: input.standardRateLimit,
      created_by: input.credentialId,
    });
    return { ...built, shown: () => ({ token: secret }) };
  },

  revokeToken: (input) =>
    command(records.revokeToken, input.organisationId, {
      ...inOrganisation(input),
      ...management(input),
      token_id: input.parameters.id.toLowerCase(),
    }),

  createServiceAccount: (input) => {
    const { secret, hash, lastFour } = deriveSecret('lss_', input.commandId, input.tokenSecret);
    const { name, scopes, ou_ids, rate_limit } = input.body;
    const built = command(records.createServiceAccount, input.organisationId, {
      ...inOrganisation(input),
      client_id: input.commandId,
      name,
      secret_hash: hash,
      last_four: lastFour,
      scopes: [...new Set(scopes)],
      ou_ids: distinctIds(ou_ids ?? [ouOf(input)]),
      rate_limit: rate_limit ?? null,
      standard_rate_limit: input.standardRateLimit,
      created_by: input.credentialId,
    });
    return { ...built, shown: () => ({ client_secret: secret }) };
  },

  rotateServiceAccountSecret: (input) => {
    const { secret, hash, lastFour } = deriveSecret('lss_', input.commandId, input.tokenSecret);
    const built = command(records.rotateServiceAccountSecret, input.organisationId, {
      ...inOrganisation(input),
      ...management(input),
      client_id: input.parameters.id.toLowerCase(),
      secret_hash: hash,
      last_four: lastFour,
    });
    return { ...built, shown: () => ({ client_secret: secret }) };
  },

  revokeServiceAccount: (input) =>
    command(records.revokeServiceAccount, input.organisationId, {
      ...inOrganisation(input),
      ...management(input),
      client_id: input.parameters.id.toLowerCase(),
    }),

  changeToken: (input) => limitCredential(input, 'token', input.parameters.id, input.body),

  changeServiceAccount: (input) => limitCredential(input, 'service_account', input.parameters.id, input.body),

  changeLimits: (input) =>
    command(records.limitOrganisation, input.organisationId, {
      ...inOrganisation(input),
      ...limitsIn(input.body),
      organisation_rate_limit: input.organisationRateLimit,
      requested_by: input.credentialId,
    }),

  addMember: (input) => {
    const { email, name, role, ou_ids } = input.body;
    const invitation = invitationOf(input);
    const built = command(records.addMember, input.organisationId, {
      ...inOrganisation(input),
      ...invitation.fields,
      member_id: input.commandId,
      email,
      name,
      role,
      ou_ids: ou_ids && distinctIds(ou_ids),
      standard_rate_limit: input.standardRateLimit,
      requested_by: input.credentialId,
    });
    return { ...built, shown: invitation.shown };
  },

  changeMember: (input) => {
    const { ou_ids, email, name, role } = input.body;
    return command(records.changeMember, input.organisationId, {
      ...inOrganisation(input),
      member_id: input.parameters.id.toLowerCase(),
      ...(email !== undefined && { email }),
      ...(name !== undefined && { name }),
      ...(role !== undefined && { role }),
      ...(ou_ids !== undefined && { ou_ids: ou_ids && distinctIds(ou_ids) }),
      requested_by: input.credentialId,
    });
  },

  inviteMember: (input) => {
    const invitation = invitationOf(input);
    const built = command(records.inviteMember, input.organisationId, {
      ...inOrganisation(input),
      ...invitation.fields,
      member_id: input.parameters.id.toLowerCase(),
      requested_by: input.credentialId,
    });
    return { ...built, shown: invitation.shown };
  },

  removeMember: (input) =>
    command(records.removeMember, input.organisationId, {
      ...inOrganisation(input),
      member_id: input.parameters.id.toLowerCase(),
      requested_by: input.credentialId,
    }),
} satisfies Partial<CommandBuilders>;

/** The link of an invitation: its stored form, and the address that the answer shows. */
function invitationOf({ commandId, tokenSecret, requestedAt, appUrl }: CommandContext) {
  const { secret, hash } = deriveSecret('lsi_', commandId, tokenSecret);
  const { invitationDays } = routeDeclarations;
  const expiresAt = new Date(Date.parse(requestedAt) + invitationDays * 86_400_000).toISOString();
  return {
    fields: { invitation_hash: hash, invitation_expires_at: expiresAt },
    shown: () => ({ invitation_url: `${appUrl}/invitations/${secret}` }),
  };
}

function limitCredential(
  input: CommandContext,
  kind: 'token' | 'service_account',
  credentialId: string,
  limits: Pick<records.LimitCredential, 'rate_limit' | 'quotas' | 'warning_channel'>,
) {
  return command(records.limitCredential, input.organisationId, {
    ...inOrganisation(input),
    ...management(input),
    ...limitsIn(limits),
    kind,
    credential_id: credentialId.toLowerCase(),
    standard_rate_limit: input.standardRateLimit,
    organisation_rate_limit: input.organisationRateLimit,
  });
}

/** The fields that change, the ids of the warning channel in lower case: a UUID may be sent in upper case. */
function limitsIn<Limits extends Pick<records.LimitCredential, 'warning_channel'>>(limits: Limits): Limits {
  const channel = limits.warning_channel;
  if (!channel) return limits;
  const warning_channel = {
    ou_id: channel.ou_id.toLowerCase(),
    channel_id: channel.channel_id.toLowerCase(),
  };
  return { ...limits, warning_channel };
}

function management(input: CommandContext) {
  return { ou_id: ouOf(input), requested_by: input.credentialId };
}
