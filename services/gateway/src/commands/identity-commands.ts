// Commands about the gateway's own organisations: their OUs, tokens and service accounts.
import { records } from '@lead-scoring/contracts';
import { deriveSecret } from '../credentials/derived-secrets.js';
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
      role,
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
} satisfies Partial<CommandBuilders>;

function management(input: CommandContext) {
  return { ou_id: ouOf(input), requested_by: input.credentialId };
}
