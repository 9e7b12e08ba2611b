// Routes of kind `query`: forwarded to the owner's query port over kept connections, the answer streamed back.
import { pipeline } from 'node:stream/promises';
import {
  bodyIsOptional,
  decodePosition,
  leadParametersOf,
  routeDeclarations,
  routes,
  type RouteDeclaration,
  type ServiceName,
} from '@lead-scoring/contracts';
import {
  answerUnitHeader,
  decodeUtf8,
  defineComponent,
  hasBody,
  internalAuthorizationHeader,
  minimumPositionsHeader,
  parseJson,
  parseOrProblem,
  parseQuery,
  ProblemError,
  readBody,
  requestIdOf,
  signInternal,
  type Component,
  type InternalClaims,
} from '@lead-scoring/service';
import { isRetriable } from '@lead-scoring/read-model';
import type { Request, Response } from 'express';
import { errors, Pool, type Dispatcher } from 'undici';
import type { z } from 'zod';
import { roleOf } from '../credentials/authenticate.js';
import type { GatewayRequest } from '../edge/request.js';
import { problem, tryAgain } from '../problem.js';

export type Owner = Exclude<ServiceName, 'gateway'>;

export interface Forwarder {
  /** @throws ProblemError 400 for a query that is not as declared, 503 when the owner is away, 504 when it is late */
  forward(route: RouteDeclaration, req: Request, res: Response, ouId: string | undefined): Promise<void>;
  /** The lead that an id names: another one where no lead has the id, and its alias was linked to that one. */
  namedLead(leadId: string, req: Request, ouId: string): Promise<string>;
  /** The event types that have come in. */
  eventTypes(req: Request, ouId: string): Promise<string[]>;
}

export interface ForwarderOptions {
  urls: Readonly<Record<Owner, string>>;
  internalSecret: string;
  /** Whether the OU of an answer, which the caller has not named, has ended. */
  unitHasEnded: (ouId: string) => Promise<boolean>;
  /** Until the owner begins to answer. Longer than it waits for a position. */
  timeoutMs?: number;
}

const passedOn = [
  'content-type',
  'content-length',
  'content-disposition',
  'retry-after',
  'allow',
  'link',
  'content-security-policy',
  'x-frame-options',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
] as const;

export function createForwarder(options: ForwarderOptions): Component<Forwarder> {
  const timeoutMs = options.timeoutMs ?? 15_000;
  return defineComponent('owners', () => {
    const pools: Record<Owner, Pool> = {
      ingest: poolOf(options.urls.ingest, timeoutMs),
      scoring: poolOf(options.urls.scoring, timeoutMs),
      notification: poolOf(options.urls.notification, timeoutMs),
      share: poolOf(options.urls.share, timeoutMs),
      'site-analysis': poolOf(options.urls['site-analysis'], timeoutMs),
    };
    const askFor =
      (req: Request, ouId: string): Ask =>
      async (owner, path) => {
        const call = { method: 'GET', target: path };
        const authorization = await signInternal(claimsOf(req, ouId), call, options.internalSecret);
        const headers = {
          [internalAuthorizationHeader]: authorization,
          'x-request-id': requestIdOf(req),
        };
        return request(pools[owner], { method: 'GET', path, headers });
      };
    return Promise.resolve({
      value: {
        forward: (...parameters) => forward(pools, options, ...parameters),
        namedLead: (leadId, req, ouId) => namedLead(leadId, askFor(req, ouId)),
        eventTypes: async (req, ouId) => {
          const { path, responses } = routes.listEventTypes;
          const answer = await askFor(req, ouId)('ingest', path);
          return responses[200].schema.parse(await answer.body.json());
        },
      },
      stop: async () => {
        await Promise.all(Object.values(pools).map((pool) => pool.close()));
      },
    });
  });
}

function poolOf(url: string, timeoutMs: number): Pool {
  return new Pool(new URL(url).origin, {
    connections: 64,
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: 2_000 },
    keepAliveTimeout: 30_000,
  });
}

async function forward(
  pools: Readonly<Record<Owner, Pool>>,
  { internalSecret, unitHasEnded }: ForwarderOptions,
  route: RouteDeclaration,
  req: Request,
  res: Response,
  ouId: string | undefined,
): Promise<void> {
  if (route.parameters) parseOrProblem(route.parameters, req.params, 'parameters');
  const query = parseQuery(req.url);
  if (route.query) parseOrProblem(route.query, query, 'query');
  const question =
    route.body && (!bodyIsOptional(route) || hasBody(req)) ? await questionOf(route.body, req) : undefined;
  const claims = claimsOf(req, ouId);
  const headers: Record<string, string> = {
    'x-request-id': claims.request_id,
    accept: req.headers.accept ?? '*/*',
  };
  const gone = new AbortController();
  res.once('close', () => {
    gone.abort();
  });
  const ask = async (
    owner: Owner,
    path: string,
    extra: Record<string, string> = {},
    asked: { method: 'GET' | 'POST'; body?: Buffer } = { method: 'GET' },
  ) => {
    const call = { method: asked.method, target: path, body: asked.body };
    const authorization = await signInternal(claims, call, internalSecret);
    return request(pools[owner], {
      path,
      headers: { ...headers, [internalAuthorizationHeader]: authorization, ...extra },
      signal: gone.signal,
      ...asked,
    });
  };
  try {
    const extra: Record<string, string> = {};
    if (query.min_position !== undefined) {
      const positions = await visiblePositions(query.min_position, ask);
      if (typeof positions !== 'string') {
        await passOn(positions, res);
        return;
      }
      if (route.owner === 'scoring') extra[minimumPositionsHeader] = positions;
    }
    if (question) extra['content-type'] = 'application/json';
    const method = route.method === 'POST' ? 'POST' : 'GET';
    const askOwner = (path: string) =>
      ask(route.owner as Owner, path, extra, { method, ...(question && { body: question }) });
    const leads = leadParametersOf(route);
    const path = await withNamedLeads(req.url, leads.query, query, ask);
    const answer = await askOwner(path);
    const elsewhere =
      answer.statusCode === 404 && ouId !== undefined
        ? await withNamedLeads(path, leads.path, req.params, ask)
        : path;
    if (elsewhere === path) {
      await refuseOfEnded(answer, unitHasEnded);
      await passOn(answer, res);
      return;
    }
    await answer.body.dump();
    await passOn(await askOwner(elsewhere), res);
  } catch (error) {
    // The caller has gone: nobody is there to be answered.
    if (gone.signal.aborted) return;
    throw error;
  }
}

/** @throws ProblemError 404, as for a link that nobody made, when its OU has ended; 503 when that cannot be told */
async function refuseOfEnded(
  answer: Dispatcher.ResponseData,
  unitHasEnded: ForwarderOptions['unitHasEnded'],
): Promise<void> {
  const ouId = answer.headers[answerUnitHeader];
  if (typeof ouId !== 'string') return;
  const ended = await unitHasEnded(ouId).catch(async (error: unknown) => {
    await answer.body.dump();
    if (!isRetriable(error)) throw error;
    throw tryAgain('service_unavailable', 'The link cannot be checked now. Try again in a moment.', 2, error);
  });
  if (!ended) return;
  await answer.body.dump();
  throw problem(
    'share_not_found',
    'This link is unknown or was ended. Check that it is whole, or ask its sender for a new one.',
  );
}

type Ask = (owner: Owner, path: string) => Promise<Dispatcher.ResponseData>;

/**
 * The address with the leads that its ids name. Reads by a path ask only when there is no such lead, so that this costs
 * nothing otherwise; a list that is narrowed to a lead asks first, since it has no such answer.
 */
async function withNamedLeads(
  url: string,
  parameters: readonly string[],
  values: Readonly<Record<string, unknown>>,
  ask: Ask,
): Promise<string> {
  let named = url;
  for (const parameter of parameters) {
    const id = values[parameter];
    if (typeof id === 'string') named = named.replace(id, await namedLead(id.toLowerCase(), ask, id));
  }
  return named;
}

/** @param otherwise when it names itself */
async function namedLead(leadId: string, ask: Ask, otherwise = leadId): Promise<string> {
  const answer = await ask('ingest', `/internal/named-lead/${leadId}`);
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    return otherwise;
  }
  const { lead_id } = routeDeclarations.findNamedLead.responses[200].schema.parse(await answer.body.json());
  return lead_id === leadId ? otherwise : lead_id;
}

/** Of the body of a question. */
const maximumBodyBytes = 1_000_000;

/** The body of a question, once it is as declared. */
async function questionOf(schema: z.ZodType, req: Request): Promise<Buffer> {
  const { bytes } = await readBody(req, { maximumBytes: maximumBodyBytes, types: ['application/json'] });
  parseOrProblem(schema, parseJson(decodeUtf8(bytes)), 'body');
  return bytes;
}

/** Stands for the organisation and the credential of who has shown none. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** Who asks. Of a route that needs no credential the owner learns only that the gateway lets the request in. */
function claimsOf(req: GatewayRequest, ouId: string | undefined): InternalClaims {
  const { caller } = req;
  return {
    ...(ouId !== undefined && { ou_id: ouId }),
    organisation_id: caller?.organisationId ?? nobody,
    credential_id: caller?.credentialId ?? nobody,
    actor: caller?.actor ?? 'public',
    role: caller ? roleOf(caller) : 'viewer',
    request_id: requestIdOf(req),
  };
}

/** What a position of ingest.commands became in ingest.events, once it is visible there; or the owner's refusal. */
async function visiblePositions(
  minimum: string,
  ask: (owner: Owner, path: string) => Promise<Dispatcher.ResponseData>,
): Promise<string | Dispatcher.ResponseData> {
  if (!decodePosition(minimum))
    throw problem('position_unknown', 'min_position must be the position of a 202 of this system.');
  const answer = await ask('ingest', `/internal/visible?position=${minimum}`);
  if (answer.statusCode !== 200) return answer;
  const { positions } = routeDeclarations.awaitVisible.responses[200].schema.parse(await answer.body.json());
  return positions;
}

async function request(pool: Pool, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
  try {
    const answer = await pool.request(options);
    if (answer.statusCode !== 401 && answer.statusCode !== 403) return answer;
    // The caller's credential was found good here; if the owner refuses ours, that is between the two of us.
    await answer.body.dump();
    throw new Error(`the owner refused the internal authorization with ${String(answer.statusCode)}`);
  } catch (error) {
    if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
      throw problem(
        'service_timeout',
        'The service did not answer in time. Ask for less, or try again later.',
        {
          cause: error,
        },
      );
    if (error instanceof errors.UndiciError || (error instanceof Error && 'syscall' in error))
      throw tryAgain(
        'service_unavailable',
        'A service does not answer now. Try again in a moment.',
        2,
        error,
      );
    throw error;
  }
}

async function passOn(answer: Dispatcher.ResponseData, res: Response): Promise<void> {
  res.status(answer.statusCode);
  for (const name of passedOn) {
    const value = answer.headers[name];
    if (value !== undefined) res.setHeader(name, value);
  }
  if (res.req.method === 'HEAD') {
    await answer.body.dump();
    res.end();
    return;
  }
  try {
    await pipeline(answer.body, res);
  } catch (error) {
    // What has been sent cannot be taken back; cutting the connection tells that it is not whole.
    res.destroy();
    if (!res.headersSent)
      throw new ProblemError(500, 'internal_error', 'The answer broke off.', { cause: error });
  }
}
