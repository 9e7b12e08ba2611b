// The table of contents of the commands: for each route of kind `command`, the record that it becomes.
import {
  records,
  routes,
  shareFieldsOf,
  shareUrlOf,
  type Actor,
  type JsonObject,
  type PayloadOf,
  type RecordDeclaration,
  type RouteDeclaration,
  type RouteName,
} from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import type { Sealing } from '@lead-scoring/service';
import type { z } from 'zod';
import { deriveSecret, deriveShareToken } from '../credentials/derived-secrets.js';
import type { RateLimit } from '../identity/messages.js';
import { problem } from '../problem.js';
import { destinationOf, newSigningSecret, shownSigningSecret } from './channels.js';
import { milestoneOf, sequenceOf, surgeOf } from './triggers.js';

export type CommandRouteName = {
  [Name in RouteName]: (typeof routes)[Name] extends { kind: 'command' } ? Name : never;
}[RouteName];

type PartOf<Route, Part extends string> =
  Route extends Record<Part, infer Schema extends z.ZodType> ? z.output<Schema> : unknown;

/** What a command is made from, whichever it is. */
interface CommandContext {
  /** The body as it was parsed, before validation. */
  rawBody: unknown;
  /** From the Idempotency-Key or random: the id of the command and of what it creates. */
  commandId: string;
  organisationId: string;
  credentialId: string;
  /** The credential with its name, for the events that last. */
  actor: Actor;
  /** The OU of the request; undefined for routes that belong to none. */
  ouId: string | undefined;
  /** ISO 8601 UTC with milliseconds. */
  requestedAt: string;
  /** What secrets that are shown are derived from. */
  tokenSecret: string;
  /** Of credentials that have no limit of their own. */
  standardRateLimit: RateLimit;
  sealing: Sealing;
  /** Where browsers open share links. */
  appUrl: string;
}

export interface CommandInput<Route = RouteDeclaration> extends CommandContext {
  parameters: PartOf<Route, 'parameters'>;
  body: PartOf<Route, 'body'>;
}

export interface BuiltCommand {
  record: OutgoingRecord;
  /** What the answer shows once, beside the owner's result. */
  shown?: (result: JsonObject) => JsonObject;
}

export type CommandBuilders = {
  [Name in CommandRouteName]: (input: CommandInput<(typeof routes)[Name]>) => BuiltCommand;
};

export const commandBuilders: CommandBuilders = {
  createRuleset: (input) =>
    command(records.createRuleset, ouOf(input), {
      ...inUnit(input),
      ruleset_id: input.commandId,
      ...input.body,
    }),

  updateRuleset: (input) =>
    command(records.updateRuleset, ouOf(input), {
      ...inUnit(input),
      ruleset_id: input.parameters.id,
      ...input.body,
    }),

  createRule: (input) =>
    command(records.createRule, ouOf(input), { ...inUnit(input), rule_id: input.commandId, ...input.body }),

  createEngagementRule: (input) =>
    command(records.createRule, ouOf(input), { ...inUnit(input), rule_id: input.commandId, ...input.body }),

  setRulesActive: (input) => {
    const { rule_ids, updates } = input.body;
    refuseOtherUpdates(input.rawBody);
    return command(records.setRulesActive, ouOf(input), {
      ...inUnit(input),
      rule_ids,
      ...(updates.active !== undefined && { active: updates.active }),
    });
  },

  deleteLead: (input) => {
    const leadId = input.parameters.leadID.toLowerCase();
    return command(records.deleteLead, leadId, {
      ...inUnit(input),
      lead_id: leadId,
      deletion_id: input.commandId,
      requested_by: input.credentialId,
    });
  },

  setEngagementLevels: (input) =>
    command(records.setEngagementLevels, ouOf(input), { ...inUnit(input), levels: input.body.levels }),

  createShare: (input) => {
    const token = deriveShareToken(input.commandId, input.tokenSecret);
    const fields = shareFieldsOf(token);
    const built = command(records.createShare, fields.share_id, {
      ...inUnit(input),
      ...fields,
      lead_id: input.parameters.id.toLowerCase(),
      created_by: input.credentialId,
    });
    return { ...built, shown: () => ({ token, share_url: shareUrlOf(input.appUrl, token) }) };
  },

  revokeShare: (input) => {
    const { token } = input.parameters;
    const shareId = uuidForm.test(token) ? token.toLowerCase() : shareFieldsOf(token).share_id;
    return command(records.revokeShare, shareId, {
      ...inUnit(input),
      share_id: shareId,
      requested_by: input.credentialId,
    });
  },

  createChannel: (input) => {
    const { name } = input.body;
    const built = command(records.createChannel, ouOf(input), {
      ...inUnit(input),
      channel_id: input.commandId,
      name,
      destination: destinationOf(input.body, input.commandId, input.sealing),
      ...newSigningSecret(input),
    });
    return input.body.type === 'webhook' ? { ...built, shown: shownSigningSecret(input) } : built;
  },

  replaceChannel: (input) => {
    const channelId = input.parameters.id.toLowerCase();
    return command(records.replaceChannel, ouOf(input), {
      ...inUnit(input),
      channel_id: channelId,
      name: input.body.name,
      destination: destinationOf(input.body, channelId, input.sealing),
    });
  },

  deleteChannel: (input) =>
    command(records.deleteChannel, ouOf(input), {
      ...inUnit(input),
      channel_id: input.parameters.id.toLowerCase(),
    }),

  rotateChannelSecret: (input) => {
    const built = command(records.rotateChannelSecret, ouOf(input), {
      ...inUnit(input),
      channel_id: input.parameters.id.toLowerCase(),
      ...newSigningSecret(input),
    });
    return { ...built, shown: shownSigningSecret(input) };
  },

  testChannel: (input) => {
    const channelId = input.parameters.id.toLowerCase();
    return command(records.testChannel, channelId, {
      ...inUnit(input),
      channel_id: channelId,
      notification_id: input.commandId,
    });
  },

  resumeChannel: (input) => {
    const channelId = input.parameters.id.toLowerCase();
    return command(records.resumeChannel, channelId, {
      ...inUnit(input),
      channel_id: channelId,
      cause: 'request',
    });
  },

  redeliverNotifications: (input) => {
    const channelId = input.parameters.id.toLowerCase();
    return command(records.redeliverNotifications, channelId, {
      ...inUnit(input),
      channel_id: channelId,
      redelivery_id: input.commandId,
      ...input.body,
    });
  },

  redeliverNotification: (input) =>
    command(records.redeliverNotification, ouOf(input), {
      ...inUnit(input),
      notification_id: input.parameters.id.toLowerCase(),
      redelivery_id: input.commandId,
    }),

  createTrigger: (input) => newTrigger(input, milestoneOf(input.body)),
  replaceTrigger: (input) => otherTrigger(input, milestoneOf(input.body)),
  deleteTrigger: (input) => noTrigger(input, 'milestone'),

  createSequence: (input) => newTrigger(input, sequenceOf(input.body)),
  replaceSequence: (input) => otherTrigger(input, sequenceOf(input.body)),
  deleteSequence: (input) => noTrigger(input, 'sequence'),

  createSurgeTrigger: (input) => newTrigger(input, surgeOf(input.body)),
  replaceSurgeTrigger: (input) => otherTrigger(input, surgeOf(input.body)),
  deleteSurgeTrigger: (input) => noTrigger(input, 'surge'),

  analyzeSite: (input) =>
    command(records.analyzeSite, ouOf(input), {
      ...inUnit(input),
      analysis_id: input.commandId,
      url: input.body.url,
    }),

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
      ou_ids: distinct(ou_ids ?? [ouOf(input)]),
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
      ou_ids: distinct(ou_ids ?? [ouOf(input)]),
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
};

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function command<Declaration extends RecordDeclaration>(
  declaration: Declaration,
  key: string,
  payload: PayloadOf<Declaration>,
): BuiltCommand {
  return { record: outgoing(declaration, { key, payload }) };
}

function newTrigger(input: CommandContext, definition: records.TriggerDefinition): BuiltCommand {
  return command(records.createTrigger, ouOf(input), {
    ...inUnit(input),
    trigger_id: input.commandId,
    definition,
  });
}

function otherTrigger(
  input: CommandContext & { parameters: { id: string } },
  definition: records.TriggerDefinition,
): BuiltCommand {
  return command(records.replaceTrigger, ouOf(input), {
    ...inUnit(input),
    trigger_id: input.parameters.id.toLowerCase(),
    definition,
  });
}

function noTrigger(
  input: CommandContext & { parameters: { id: string } },
  kind: records.DeleteTrigger['kind'],
): BuiltCommand {
  return command(records.deleteTrigger, ouOf(input), {
    ...inUnit(input),
    trigger_id: input.parameters.id.toLowerCase(),
    kind,
  });
}

function inUnit(input: CommandContext) {
  return { ou_id: ouOf(input), requested_at: input.requestedAt, actor: input.actor };
}

function inOrganisation(input: CommandContext) {
  return { organisation_id: input.organisationId, requested_at: input.requestedAt, actor: input.actor };
}

function management(input: CommandContext) {
  return { ou_id: ouOf(input), requested_by: input.credentialId };
}

function ouOf({ ouId }: CommandContext): string {
  if (ouId === undefined) throw new Error('a route that belongs to no OU cannot send a command about one');
  return ouId;
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}

/** Of the raw body: what validation drops was sent all the same. */
function refuseOtherUpdates(rawBody: unknown): void {
  const { updates } = rawBody as { updates: object };
  const others = Object.keys(updates).filter((field) => field !== 'active');
  if (others.length === 0) return;
  const named = others.slice(0, 100);
  throw problem(
    'field_not_allowed',
    `updates may hold only active; leave out ${named.slice(0, 5).join(', ')}.`,
    {
      errors: named.map((field) => ({ path: `body.updates.${field}`, message: 'may not be changed here' })),
    },
  );
}
