// How a command's record is built: the input and output of builders, and the fields that many commands share.
import type {
  JsonObject,
  PayloadOf,
  RecordedActor,
  RecordDeclaration,
  RouteDeclaration,
  RouteName,
  routes,
} from '@lead-scoring/contracts';
import { outgoing, type OutgoingRecord } from '@lead-scoring/event-log';
import type { Sealing } from '@lead-scoring/service';
import type { z } from 'zod';
import type { OrganisationRateLimit, RateLimit, Role } from '../identity/messages.js';
import type { LookedUp } from '../reads/look-ups.js';

type CommandRouteName = {
  [Name in RouteName]: (typeof routes)[Name] extends { kind: 'command' } ? Name : never;
}[RouteName];

type PartOf<Route, Part extends string> =
  Route extends Record<Part, infer Schema extends z.ZodType> ? z.output<Schema> : unknown;

/** The input that every builder gets. */
export interface CommandContext {
  /** The body as it was parsed, before validation. */
  rawBody: unknown;
  /** The id of the command and of the resource that it creates: derived from the Idempotency-Key, else random. */
  commandId: string;
  organisationId: string;
  credentialId: string;
  /** The caller's role. */
  role: Role;
  /** The credential with its name and the address of the client, for the event. */
  actor: RecordedActor;
  /** The OU of the request; undefined for routes that belong to none. */
  ouId: string | undefined;
  /** ISO 8601 UTC with milliseconds. */
  requestedAt: string;
  /** The key from which secrets that are shown once are derived. */
  tokenSecret: string;
  /** The limit of credentials that have none of their own. */
  standardRateLimit: RateLimit;
  /** The configured limit of all credentials of an organisation together. */
  organisationRateLimit: OrganisationRateLimit;
  sealing: Sealing;
  /** The address at which browsers open share links. */
  appUrl: string;
  /** The parts that only the owner knows. */
  lookedUp: LookedUp;
}

export interface CommandInput<Route = RouteDeclaration> extends CommandContext {
  parameters: PartOf<Route, 'parameters'>;
  query: PartOf<Route, 'query'>;
  /** Of routes with `entityTag`: the version that the change is meant for; undefined: any. */
  expectedVersion: number | undefined;
  body: PartOf<Route, 'body'>;
}

export interface BuiltCommand {
  record: OutgoingRecord;
  /** Makes the fields, beside the owner's result, that the answer shows only once. */
  shown?: (result: JsonObject) => JsonObject;
}

export type CommandBuilders = {
  [Name in CommandRouteName]: (input: CommandInput<(typeof routes)[Name]>) => BuiltCommand;
};

export function command<Declaration extends RecordDeclaration>(
  declaration: Declaration,
  key: string,
  payload: PayloadOf<Declaration>,
): BuiltCommand {
  return { record: outgoing(declaration, { key, payload }) };
}

export function inUnit(input: CommandContext) {
  return { ou_id: ouOf(input), requested_at: input.requestedAt, actor: input.actor };
}

export function inOrganisation(input: CommandContext) {
  return { organisation_id: input.organisationId, requested_at: input.requestedAt, actor: input.actor };
}

export function ouOf({ ouId }: CommandContext): string {
  if (ouId === undefined) throw new Error('a route that belongs to no OU cannot send a command about one');
  return ouId;
}

/** Each id once, in lower case, in the order of the request: a UUID may be sent in upper case. */
export function distinctIds(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
