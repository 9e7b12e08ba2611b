// A request of a command's route: the parts that are read before its Idempotency-Key is checked, and its validated content.
import { bodyIsOptional, type RouteDeclaration } from '@lead-scoring/contracts';
import { decodeUtf8, hasBody, parseJson, parseOrProblem, parseQuery, readBody } from '@lead-scoring/service';
import type { Request } from 'express';
import type { Caller } from '../credentials/authenticate.js';
import { callerOf, headerOf } from '../edge/request.js';
import { idempotencyKeyOf, writeId } from '../idempotency/key.js';
import { problem } from '../problem.js';

export interface CommandRequest {
  req: Request;
  caller: Caller;
  /** undefined for routes that belong to no OU. */
  ouId: string | undefined;
  /** Whether it has an Idempotency-Key: repeats of it have the same `commandId`. */
  isRepeatable: boolean;
  commandId: string;
  /** The body; empty where there is none. */
  bytes: Uint8Array;
}

/** The validated content of a request. */
export interface CommandContent {
  parameters: Readonly<Record<string, unknown>>;
  query: Readonly<Record<string, unknown>>;
  /** The version that If-Match names; undefined: any version may be changed. */
  expectedVersion: number | undefined;
  body: unknown;
  /** The body as it was parsed, before validation. */
  rawBody: unknown;
}

const maximumBodyBytes = 1_000_000;

export async function readCommandRequest(
  route: RouteDeclaration,
  req: Request,
  ouId: string | undefined,
): Promise<CommandRequest> {
  const caller = callerOf(req);
  const key = idempotencyKeyOf(headerOf(req, 'idempotency-key'));
  const commandId = writeId(caller.credentialId, route.name, key);
  const bytes = await bodyOf(route, req);
  return { req, caller, ouId, isRepeatable: key !== null, commandId, bytes };
}

async function bodyOf(route: RouteDeclaration, req: Request): Promise<Uint8Array> {
  if (!route.body || (bodyIsOptional(route) && !hasBody(req))) return new Uint8Array();
  const types = route.bodyTypes ?? ['application/json'];
  return (await readBody(req, { maximumBytes: maximumBodyBytes, types })).bytes;
}

/** @throws ProblemError 400 when the request is not as declared */
export function contentOf(route: RouteDeclaration, { req, bytes }: CommandRequest): CommandContent {
  const text = !bodyIsOptional(route) || bytes.length > 0 ? decodeUtf8(bytes) : '{}';
  const rawBody = route.body ? parseJson(text) : undefined;
  return {
    parameters: route.parameters ? parseOrProblem(route.parameters, req.params, 'parameters') : {},
    query: route.query ? parseOrProblem(route.query, parseQuery(req.url), 'query') : {},
    expectedVersion: route.entityTag === true ? versionIn(headerOf(req, 'if-match')) : undefined,
    body: route.body ? parseOrProblem(route.body, rawBody, 'body') : {},
    rawBody,
  };
}

const entityTag = /^"(\d{1,15})"$/;

/** @throws ProblemError 400 for an If-Match that is no ETag of this system */
function versionIn(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const version = entityTag.exec(ifMatch)?.[1];
  if (version !== undefined) return Number(version);
  throw problem(
    'invalid_request',
    'If-Match must be the ETag of an earlier answer, such as "12" with its quotation marks, or *.',
  );
}
