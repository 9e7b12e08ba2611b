// The router, made from the contracts' routes: every declared route is served, and no other.
import { expressPath, isPage, routes, type RouteDeclaration } from '@lead-scoring/contracts';
import { methodNotAllowed, nameRoute, wantsPage } from '@lead-scoring/service';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { RefusalRecorder } from './audit/refused-sign-ins.js';
import { checkAccess, type Authenticator } from './credentials/authenticate.js';
import { authorizationOfWriteKey } from './credentials/authorization-header.js';
import type { LastUseRecorder } from './credentials/last-use.js';
import { allowAnyOrigin, answerPreflight } from './edge/cross-origin.js';
import { problemsOnPage } from './edge/problem-page.js';
import { callerOf, headerOf, untilCounted, type GatewayRequest } from './edge/request.js';
import type { Answer } from './idempotency/write-claim.js';
import type { RequestQuotas } from './quotas/request-quotas.js';
import { networkOf } from './rate-limit/limiter.js';
import type { RequestLimits } from './rate-limit/request-limits.js';
import type { CallCounter } from './usage/call-counter.js';

/** Serves one route: writes the answer itself, or returns it to be sent. */
export type RouteHandler = (
  req: Request,
  res: Response,
  ouId: string | undefined,
) => Promise<(Answer & { repeated?: boolean }) | undefined>;

export interface RouterDependencies extends RequestLimits {
  authenticator: Authenticator;
  lastUses: LastUseRecorder;
  calls: CallCounter;
  quotas: RequestQuotas;
  refusals: RefusalRecorder;
  /** The step that finds the credential in the body, for routes whose senders may put it there. */
  findWriteKey(route: RouteDeclaration): RequestHandler;
  /** @returns undefined when the route has no handler */
  handlerOf(route: RouteDeclaration): RouteHandler | undefined;
}

/** Routes that monitors call often, and that must always answer. */
const unlimited: readonly string[] = [routes.liveness.name, routes.readiness.name];

/** @throws Error at start-up when a declared route has no handler */
export function createRouter(
  dependencies: RouterDependencies,
  declared: readonly RouteDeclaration[] = Object.values(routes),
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const missing = declared.filter((route) => !dependencies.handlerOf(route)).map(({ name }) => name);
  if (missing.length > 0) throw new Error(`declared routes without a handler: ${missing.join(', ')}`);
  for (const [path, ofPath] of byPath(declared)) {
    const served = router.route([path, ...ofPath.flatMap(({ alsoAt = [] }) => alsoAt)]);
    const methods = ofPath.map(({ method }) => method);
    if (ofPath.some(({ fromBrowsers }) => fromBrowsers))
      served.all(allowAnyOrigin).options(answerPreflight(methods));
    for (const route of ofPath) {
      const handler = dependencies.handlerOf(route);
      if (handler) served[methodOf(route)](nameRoute(route.path), ...stepsOf(route, handler, dependencies));
    }
    served.all(dependencies.limitAddress, methodNotAllowed(methods));
  }
  return router;
}

function stepsOf(
  route: RouteDeclaration,
  handler: RouteHandler,
  dependencies: RouterDependencies,
): RequestHandler[] {
  const { access } = route;
  const { limitCaller, limitInFlight } = dependencies;
  return access.credential
    ? [
        ...(route.fromBrowsers === true ? [dependencies.findWriteKey(route)] : []),
        authentication(dependencies),
        limitCaller,
        limitInFlight,
        takeCall(route, dependencies),
        countCall(route, dependencies),
        serviceToCaller(access, handler, dependencies),
      ]
    : openSteps(route, handler, dependencies);
}

/** The steps of a route that needs no credential. */
function openSteps(
  route: RouteDeclaration,
  handler: RouteHandler,
  { limitAddress }: RouterDependencies,
): RequestHandler[] {
  const serve: RequestHandler = async (req, res) => {
    await handler(req, res, undefined);
  };
  if (unlimited.includes(route.name)) return [serve];
  return route.kind === 'query' ? [keptPrivate(route), limitAddress, serve] : [limitAddress, serve];
}

/** Finds the caller of the request. */
function authentication({
  authenticator,
  lastUses,
  refusals,
  limitAddress,
  chargeAddress,
}: RouterDependencies): RequestHandler {
  return async (req: GatewayRequest, res, next) => {
    const charge = { made: false };
    try {
      req.caller = await authenticator.authenticate(
        authorizationOf(req),
        () => {
          charge.made = true;
          return chargeAddress(req, res);
        },
        (reason, credential) => {
          refusals.refused({ address: networkOf(req), credential, reason });
        },
      );
    } catch (error) {
      if (charge.made) throw error;
      // A malformed credential also counts against the client's address.
      limitAddress(req, res, (limited?: unknown) => {
        next(limited ?? error);
      });
      return;
    }
    lastUses.used(req.caller.credentialId);
    next();
  };
}

/** The header Authorization, or what takes its place in the body. */
function authorizationOf(req: GatewayRequest): string | undefined {
  const { writeKey } = req.keyed ?? {};
  return writeKey === undefined ? headerOf(req, 'authorization') : authorizationOfWriteKey(writeKey);
}

/** Routes by which an admin sees what is used and raises what is used up: they take nothing of a quota of calls. */
const beyondQuotas: readonly string[] = [
  routes.getUsage.name,
  routes.getLimits.name,
  routes.changeLimits.name,
  routes.changeToken.name,
  routes.changeServiceAccount.name,
];

/** Takes the call from the quotas of the caller. */
function takeCall({ name }: RouteDeclaration, { quotas }: RouterDependencies): RequestHandler {
  return async (req: GatewayRequest, res, next) => {
    if (!beyondQuotas.includes(name)) await quotas.take(callerOf(req), 'calls', 1, res);
    next();
  };
}

/** Counts the call, while it is served. */
function countCall({ tag }: RouteDeclaration, { calls }: RouterDependencies): RequestHandler {
  return (req: GatewayRequest, _res, next) => {
    const { organisationId, actor } = callerOf(req);
    req.counted = calls.count({ organisationId, credential: actor, group: tag });
    next();
  };
}

/** Checks the caller's rights, finds the OU, and serves the request; an answer waits until the call is counted, a refusal too. */
function serviceToCaller(
  access: Extract<RouteDeclaration['access'], { credential: true }>,
  handler: RouteHandler,
  { authenticator }: RouterDependencies,
): RequestHandler {
  const serve = async (req: GatewayRequest, res: Response): Promise<void> => {
    const caller = callerOf(req);
    checkAccess(caller, access);
    const ouId =
      access.organisationUnit === 'none'
        ? undefined
        : await authenticator.orgUnit(
            caller,
            headerOf(req, 'x-ou-id'),
            access.organisationUnit === 'path' ? String(req.params.ouId) : undefined,
          );
    const answer = await handler(req, res, ouId);
    await untilCounted(req);
    if (answer) send(res, answer);
  };
  return async (req: GatewayRequest, res) => {
    try {
      await serve(req, res);
    } catch (error) {
      await untilCounted(req);
      throw error;
    }
  };
}

/** Keeps the answers of share links out of caches and search engines, and answers errors with pages where a page was requested. */
function keptPrivate(route: RouteDeclaration): RequestHandler {
  return (req, res, next) => {
    res.setHeader('Cache-Control', 'private, no-store');
    res.setHeader('X-Robots-Tag', 'noindex, nofollow');
    if (isPage(route) && wantsPage(req.headers.accept)) problemsOnPage(res);
    next();
  };
}

function send(res: Response, { status, body, repeated }: Answer & { repeated?: boolean }): void {
  if (repeated === true) res.setHeader('Idempotent-Replayed', 'true');
  res.statusCode = status;
  if (body === undefined) {
    res.end();
    return;
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
}

function methodOf(route: RouteDeclaration): 'get' | 'post' | 'put' | 'patch' | 'delete' {
  switch (route.method) {
    case 'GET':
      return 'get';
    case 'POST':
      return 'post';
    case 'PUT':
      return 'put';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return 'delete';
  }
}

/** The routes by path. A literal path comes before a path with a parameter that would match it too. */
function byPath(declared: readonly RouteDeclaration[]): [string, RouteDeclaration[]][] {
  const paths = new Map<string, RouteDeclaration[]>();
  for (const route of declared) {
    const path = expressPath(route);
    paths.set(path, [...(paths.get(path) ?? []), route]);
  }
  const rank = (path: string) =>
    path
      .split('/')
      .map((part) => (part.startsWith(':') ? '1' : '0'))
      .join('');
  return [...paths].sort(([a], [b]) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
}
