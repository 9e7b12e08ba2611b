// A service's query port: its read routes for the gateway, and health and metrics for the operator.
import { bodyIsOptional, type RouteDeclaration } from '@lead-scoring/contracts';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { readJson } from './body.js';
import { onceClosed } from './closed-response.js';
import type { Component } from './component.js';
import { createStaying, livenessHandler, readinessHandler, type HealthCheck } from './health.js';
import { createHttpServer, type ListeningServer } from './http-server.js';
import {
  assertSignedBody,
  internalAuthorizationHeader,
  verifyInternal,
  type InternalClaims,
  type VerifiedCall,
} from './internal-authentication.js';
import { metricsHandler } from './metrics.js';
import { minimumPositionsHeader, parsePositions, type PartitionPosition } from './positions.js';
import { ProblemError, problemHandler, requestIdOf } from './problems.js';
import { checkPath, methodNotAllowed, nameRoute, notFound, parseQuery } from './routing.js';
import { begun, gzipped, sendParts } from './send-parts.js';
import { parseOrProblem } from './validation.js';

/** The part of a route declaration that the query port uses. Internal routes are declared with this part only. */
export type QueryRoute = Pick<
  RouteDeclaration,
  'name' | 'path' | 'parameters' | 'query' | 'body' | 'responses'
> & {
  /** POST for queries with a body, and for queries that must not run when somebody follows a link. */
  method: 'GET' | 'POST';
};

type OutputOf<Schema, Absent> = Schema extends z.ZodType ? z.output<Schema> : Absent;

/** The caller and the context that the gateway passes on. */
export interface QueryContext {
  ouId: string;
  organisationId: string;
  credentialId: string;
  actor: string;
  role: InternalClaims['role'];
  requestId: string;
  /** Positions that the answer must reflect; empty when the caller asked for none. */
  minimumPositions: readonly PartitionPosition[];
  /** The one of these media types that the caller's Accept prefers; the first where it names none of them. */
  preferred: <Type extends string>(types: readonly [Type, ...Type[]]) => Type;
  /** Aborts when the caller has disconnected. */
  signal: AbortSignal;
}

export interface QueryInput<Route extends QueryRoute, Context = QueryContext> {
  params: OutputOf<Route['parameters'], Record<string, never>>;
  query: OutputOf<Route['query'], Record<string, never>>;
  body: OutputOf<Route['body'], undefined>;
  context: Context;
}

/** The 200 answer of a handler. */
export type QueryResult<Route extends QueryRoute> = Route['responses'] extends {
  200: { schema: infer Schema };
}
  ? OutputOf<Schema, unknown>
  : unknown;

/** An answer that is not JSON, such as a page or an image. A handler returns it in place of values. */
export class RenderedAnswer {
  constructor(
    readonly contentType: string,
    readonly body: string | Uint8Array,
    readonly options: { status?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {}
}

/**
 * An answer of any size, sent part by part as its reader takes it, with gzip where that is accepted. An error before the first part
 * is answered as a problem; one after it closes the connection.
 */
export class StreamedAnswer {
  constructor(
    readonly contentType: string,
    readonly parts: AsyncIterable<string | Uint8Array>,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** A JSON answer with the version of the resource, which becomes the answer's ETag. */
export class VersionedAnswer<Answer = unknown> {
  constructor(
    readonly version: number,
    readonly answer: Answer,
  ) {}
}

/** Names the OU of an answer to a caller without an OU, so that the gateway can withhold answers of an ended OU. */
export const answerUnitHeader = 'x-answer-ou-id';

/** Names the lead that a request is about, where its caller has asked by the id of a lead that has joined it. */
export const mergedIntoHeader = 'x-merged-into';

/** An answer with the OU that it belongs to, for the gateway. */
export class AnswerOfUnit {
  constructor(
    readonly ouId: string,
    readonly answer: unknown,
  ) {}
}

/** A route with its handler, ready to be mounted. */
export interface BoundQuery {
  route: QueryRoute;
  handle(req: Request, call: VerifiedCall): Promise<unknown>;
}

/** Binds a declared read route of an OU to its handler. zod checks the input; the handler returns plain values. */
export function bindQuery<const Route extends QueryRoute>(
  route: Route,
  handler: (
    input: QueryInput<Route>,
  ) => Promise<QueryResult<Route> | VersionedAnswer<QueryResult<Route>> | RenderedAnswer | StreamedAnswer>,
): BoundQuery {
  return {
    route,
    handle: async (req, call) => {
      const { claims } = call;
      if (claims.ou_id === undefined)
        throw new ProblemError(
          400,
          'org_unit_not_selected',
          'This route belongs to an OU; set the active one first.',
        );
      const context = { ...contextOf(req, claims), ouId: claims.ou_id };
      return handler({ ...(await inputOf(route, req, call)), context });
    },
  };
}

/** Binds a route without an OU, such as one between the gateway and this service only. */
export function bindInternalQuery<const Route extends QueryRoute>(
  route: Route,
  handler: (input: QueryInput<Route, Omit<QueryContext, 'ouId'>>) => Promise<QueryResult<Route>>,
): BoundQuery {
  return {
    route,
    handle: async (req, call) => {
      const { claims } = call;
      const context = contextOf(req, claims);
      return handler({ ...(await inputOf(route, req, call)), context });
    },
  };
}

/** Maximum size of a query's body. */
const maximumBodyBytes = 1_000_000;

async function inputOf<Route extends QueryRoute>(
  route: Route,
  req: Request,
  call: VerifiedCall,
): Promise<Pick<QueryInput<Route>, 'params' | 'query' | 'body'>> {
  const body = route.body
    ? parseOrProblem(
        route.body,
        await readJson(req, {
          maximumBytes: maximumBodyBytes,
          isOptional: bodyIsOptional(route),
          check: (bytes) => {
            assertSignedBody(call, bytes);
          },
        }),
        'body',
      )
    : undefined;
  return {
    params: (route.parameters
      ? parseOrProblem(route.parameters, req.params, 'parameters')
      : {}) as QueryInput<Route>['params'],
    query: (route.query
      ? parseOrProblem(route.query, parseQuery(req.url), 'query')
      : {}) as QueryInput<Route>['query'],
    body: body as QueryInput<Route>['body'],
  };
}

function contextOf(req: Request, claims: InternalClaims): Omit<QueryContext, 'ouId'> {
  const gone = new AbortController();
  if (req.res)
    onceClosed(req.res, () => {
      gone.abort();
    });
  return {
    organisationId: claims.organisation_id,
    credentialId: claims.credential_id,
    actor: claims.actor,
    role: claims.role,
    requestId: claims.request_id,
    minimumPositions: parsePositions(req.get(minimumPositionsHeader) ?? ''),
    preferred: (types) => types.find((type) => type === req.accepts([...types])) ?? types[0],
    signal: gone.signal,
  };
}

export interface QueryServerOptions {
  host: string;
  port: number;
  routes: readonly BoundQuery[];
  /** Readiness checks by name: `read model`, `log`. */
  healthChecks: Readonly<Record<string, HealthCheck>>;
  internalSecret: string;
  logger: Logger;
  /** Also check answers against their declared schema. Default: when NODE_ENV is `test`. */
  checkAnswers?: boolean;
}

/** The query port as a component. */
export function createQueryServer(options: QueryServerOptions): Component<ListeningServer> {
  const staying = createStaying();
  return createHttpServer({
    name: 'query server',
    // An express application is a request listener.
    handler: createQueryApplication({
      ...options,
      healthChecks: { ...options.healthChecks, ...staying.healthChecks },
    }),
    host: options.host,
    port: options.port,
    onEnding: staying.onEnding,
  });
}

/** The express application of the query port, without a server. */
export function createQueryApplication(options: Omit<QueryServerOptions, 'host' | 'port'>): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false).set('case sensitive routing', true);
  app.use(checkPath);
  app
    .route('/healthz')
    .get(livenessHandler)
    .all(methodNotAllowed(['GET']));
  app
    .route('/readyz')
    .get(readinessHandler(options.healthChecks, options.logger))
    .all(methodNotAllowed(['GET']));
  app
    .route('/metrics')
    .get(metricsHandler)
    .all(methodNotAllowed(['GET']));
  const checkAnswers = options.checkAnswers ?? process.env.NODE_ENV === 'test';
  for (const [path, ofPath] of byPath(literalFirst(options.routes))) {
    const route = app.route(path.replace(/\{(\w+)\}/g, ':$1'));
    for (const bound of ofPath) {
      const steps = [nameRoute(path), serve(bound, options.internalSecret, checkAnswers)];
      if (bound.route.method === 'POST') route.post(...steps);
      else route.get(...steps);
    }
    route.all(methodNotAllowed(ofPath.map(({ route: { method } }) => method)));
  }
  app.use(notFound);
  app.use(problemHandler(options.logger));
  return app;
}

/** The routes of each path, in the order of the first of them. */
function byPath(routes: readonly BoundQuery[]): Map<string, BoundQuery[]> {
  const paths = new Map<string, BoundQuery[]>();
  for (const bound of routes) paths.set(bound.route.path, [...(paths.get(bound.route.path) ?? []), bound]);
  return paths;
}

/** Literal paths before parameters: `/leads/{id}` must not take requests for `/leads/search`. */
function literalFirst(routes: readonly BoundQuery[]): BoundQuery[] {
  const rank = ({ route }: BoundQuery) =>
    route.path
      .split('/')
      .map((part) => (part.startsWith('{') ? '1' : '0'))
      .join('');
  return [...routes].sort((left, right) =>
    rank(left) < rank(right) ? -1 : rank(left) > rank(right) ? 1 : 0,
  );
}

function serve(bound: BoundQuery, internalSecret: string, checkAnswers: boolean): RequestHandler {
  const { schema: declared, alsoAs } = bound.route.responses[200] ?? {};
  return async (req, res) => {
    const { method, originalUrl: target } = req;
    const header = req.get(internalAuthorizationHeader);
    const call = await verifyInternal(header, { method, target }, internalSecret);
    const given = await bound.handle(req, call);
    const isWrapped = given instanceof AnswerOfUnit || given instanceof VersionedAnswer;
    const answer = withMergedLead(isWrapped ? given.answer : given, req.get(mergedIntoHeader));
    if (alsoAs) res.vary('Accept');
    if (given instanceof AnswerOfUnit) res.set(answerUnitHeader, given.ouId);
    if (given instanceof VersionedAnswer) res.set('ETag', `"${String(given.version)}"`);
    if (answer instanceof RenderedAnswer) {
      res
        .status(answer.options.status ?? 200)
        .set('X-Request-Id', requestIdOf(req))
        .set('Cache-Control', 'no-store')
        .set({ ...answer.options.headers })
        .type(answer.contentType)
        .send(Buffer.from(answer.body));
      return;
    }
    if (answer instanceof StreamedAnswer) {
      await sendStream(req, res, answer);
      return;
    }
    if (checkAnswers && declared) {
      const checked = declared.safeParse(answer);
      if (!checked.success)
        throw new Error(`the answer of ${bound.route.name} is not as declared: ${checked.error.message}`);
    }
    res.set('X-Request-Id', requestIdOf(req)).set('Cache-Control', 'no-store').json(answer);
  };
}

/** The answer with the lead that the asked id names now. Pictures and answers of any size do not say it. */
function withMergedLead(answer: unknown, mergedInto: string | undefined): unknown {
  const isPlain =
    typeof answer === 'object' &&
    answer !== null &&
    !(answer instanceof RenderedAnswer || answer instanceof StreamedAnswer);
  return mergedInto === undefined || !isPlain ? answer : { ...answer, merged_into: mergedInto };
}

/**
 * The longest time in which the reader of a streamed answer takes nothing of it. Longer than the gateway's own limit, which is the one
 * that its callers meet: this one ends an answer whose gateway hangs.
 */
const streamIdleMs = 300_000;

async function sendStream(
  req: Request,
  res: Response,
  { contentType, parts, headers }: StreamedAnswer,
): Promise<void> {
  const started = await begun(parts);
  const isZipped = req.acceptsEncodings(['gzip', 'identity']) === 'gzip';
  const own = {
    ...headers,
    Vary: 'Accept, Accept-Encoding',
    'Content-Type': contentType,
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
  };
  res.status(200).set('X-Request-Id', requestIdOf(req)).set('Cache-Control', 'no-store').set(own);
  try {
    await sendParts(res, isZipped ? gzipped(started) : started, { idleMs: streamIdleMs });
  } catch (error) {
    // Nothing was sent, so a problem is the answer.
    if (!res.headersSent) for (const name of Object.keys(own)) res.removeHeader(name);
    throw error;
  }
}
