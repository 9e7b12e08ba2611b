// Forwards routes of kind `query` to the owner's query port over kept-alive connections, and streams the answer back.
import {
  bodyIsOptional,
  decodePosition,
  jobNamed,
  leadParametersOf,
  routeDeclarations,
  routes,
  type RouteDeclaration,
} from '@lead-scoring/contracts';
import {
  decodeUtf8,
  defineComponent,
  hasBody,
  mergedIntoHeader,
  minimumPositionsHeader,
  onceClosed,
  parseJson,
  parseOrProblem,
  parseQuery,
  readBody,
  requestIdOf,
  type Component,
  type InternalClaims,
} from '@lead-scoring/service';
import type { Request, Response } from 'express';
import type { Caller } from '../credentials/authenticate.js';
import { callerOf, headerOf, untilCounted, type GatewayRequest } from '../edge/request.js';
import { problem } from '../problem.js';
import { filterOf, seriesOfFilter } from './filtered-leads.js';
import { jobList, JobListRefused } from './job-list.js';
import { lookUp, type LookedUp, type LookUpRequest } from './look-ups.js';
import type { SeenEventType } from '../commands/rule-warnings.js';
import { namedLead, withNamedLeads } from './named-leads.js';
import { Owners, type Ask, type Owner, type OwnerAnswer, type OwnersOptions } from './owners.js';
import { passOn, refuseEndedUnit } from './pass-on.js';

export interface Forwarder {
  /** @throws ProblemError 400 for an invalid query, 503 when the owner is away, 504 when it is late */
  forward(route: RouteDeclaration, req: Request, res: Response, ouId: string | undefined): Promise<void>;
  /** Asks owners in the name of the caller of a request. */
  askFor(req: Request, ouId: string | undefined): Ask;
  /** The lead that an id names: the lead to which the id's alias was linked, else the id itself. */
  namedLead(leadId: string, req: Request, ouId: string): Promise<string>;
  /** The event types that have come in, hidden ones as well, from ingest. */
  eventTypes(req: Request, ouId: string): Promise<SeenEventType[]>;
  /** A job, from the service that runs it. */
  job(jobId: string, req: Request, ouId: string | undefined): Promise<routeDeclarations.Job>;
  /** The parts of a route's command that only its owner knows. @throws ProblemError the owner's refusal */
  lookUp(
    routeName: string,
    request: LookUpRequest,
    req: Request,
    ouId: string | undefined,
  ): Promise<LookedUp>;
}

export interface ForwarderOptions extends OwnersOptions {
  /** The OU that a caller names. @throws ProblemError 404 when the caller may not use it */
  namedUnit: (caller: Caller, ouId: string) => Promise<string>;
  /** Whether the OU of a public answer has ended. */
  unitHasEnded: (ouId: string) => Promise<boolean>;
  /** The longest time in which a caller takes nothing of an answer that waits for it. */
  answerIdleMs: number;
}

export function createForwarder(options: ForwarderOptions): Component<Forwarder> {
  return defineComponent('owners', () => {
    const owners = new Owners(options);
    return Promise.resolve({
      value: {
        forward: (route, req, res, ouId) => forward(owners, options, { route, req, ouId }, res),
        askFor: (req, ouId) => owners.askAs(claimsOf(req, ouId)),
        namedLead: (leadId, req, ouId) => namedLead(leadId, owners.askAs(claimsOf(req, ouId))),
        eventTypes: async (req, ouId) => {
          const { path, responses } = routeDeclarations.listSeenEventTypes;
          const answer = await owners.askAs(claimsOf(req, ouId))('ingest', path);
          return responses[200].schema.parse(await answer.body.json());
        },
        job: async (jobId, req, ouId) => {
          const { service } = jobNamed(jobId);
          const { path, responses } = routes.getJob;
          const answer = await owners.askAs(claimsOf(req, ouId))(service, path.replace('{id}', jobId));
          return responses[200].schema.parse(await answer.body.json());
        },
        lookUp: (routeName, request, req, ouId) =>
          lookUp(routeName, request, {
            ask: owners.askAs(claimsOf(req, ouId)),
            askIn: async (named) =>
              owners.askAs(claimsOf(req, await options.namedUnit(callerOf(req), named))),
          }),
      },
      stop: () => owners.close(),
    });
  });
}

interface ReadRequest {
  route: RouteDeclaration;
  req: Request;
  ouId: string | undefined;
}

/** A validated read. */
interface DeclaredRead extends ReadRequest {
  query: ReturnType<typeof parseQuery>;
  /** undefined: the request has no body. */
  body: Buffer | undefined;
}

async function forward(
  owners: Owners,
  { unitHasEnded, answerIdleMs: idleMs }: ForwarderOptions,
  request: ReadRequest,
  res: Response,
): Promise<void> {
  const { req, ouId } = request;
  const read = await declaredRead(request);
  const gone = new AbortController();
  onceClosed(res, () => {
    gone.abort();
  });
  const ask = owners.askAs(claimsOf(req, ouId), {
    headers: {
      accept: req.headers.accept ?? '*/*',
      'accept-encoding': headerOf(req, 'accept-encoding') ?? 'identity',
    },
    partTimeoutMs: read.route.partTimeoutMs,
    signal: gone.signal,
  });
  try {
    if (read.route.owner === 'jobs') {
      const list = await jobList(read.query, ask);
      await untilCounted(req);
      res.json(list);
    } else {
      const answer = await ownersAnswer(read, ask, unitHasEnded);
      await untilCounted(req);
      await passOn(answer, res, { idleMs });
    }
  } catch (error) {
    // The caller has closed the connection: there is no one to answer.
    if (gone.signal.aborted) return;
    if (!(error instanceof JobListRefused)) throw error;
    await untilCounted(req);
    await passOn(error.answer, res, { idleMs });
  }
}

/** @throws ProblemError 400 when the request is invalid */
async function declaredRead({ route, req, ouId }: ReadRequest): Promise<DeclaredRead> {
  if (route.parameters) parseOrProblem(route.parameters, req.params, 'parameters');
  const query = parseQuery(req.url);
  if (route.query) parseOrProblem(route.query, query, 'query');
  return { route, req, ouId, query, body: await bodyOf(route, req) };
}

/** The largest body of a query. */
const maximumBodyBytes = 1_000_000;

async function bodyOf(route: RouteDeclaration, req: Request): Promise<Buffer | undefined> {
  if (!route.body || (bodyIsOptional(route) && !hasBody(req))) return undefined;
  const { bytes } = await readBody(req, { maximumBytes: maximumBodyBytes, types: ['application/json'] });
  parseOrProblem(route.body, parseJson(decodeUtf8(bytes)), 'body');
  return bytes;
}

async function ownersAnswer(
  { route, req, ouId, query, body }: DeclaredRead,
  ask: Ask,
  unitHasEnded: ForwarderOptions['unitHasEnded'],
): Promise<OwnerAnswer> {
  const headers: Record<string, string> = {};
  const filterId = filterOf(route, query);
  if (query.min_position !== undefined) {
    const positions = await visiblePositions(query.min_position, ask);
    if (typeof positions !== 'string') return positions;
    if (route.owner === 'scoring' || filterId !== undefined) headers[minimumPositionsHeader] = positions;
  }
  if (filterId !== undefined) return seriesOfFilter({ url: req.url, filterId, headers }, ask);
  if (body) headers['content-type'] = 'application/json';
  const method = route.method === 'POST' ? 'POST' : 'GET';
  const askOwner = (path: string, further: Record<string, string> = {}) =>
    ask(ownerOf(route, req), path, { method, headers: { ...headers, ...further }, ...(body && { body }) });
  const leads = leadParametersOf(route);
  const { url } = await withNamedLeads(req.url, leads.query, query, ask);
  const answer = await askOwner(url);
  const isElsewhere = answer.statusCode === 404 && ouId !== undefined;
  const named = isElsewhere ? await withNamedLeads(url, leads.path, req.params, ask) : { url };
  if (named.mergedInto === undefined) {
    await refuseEndedUnit(answer, unitHasEnded);
    return answer;
  }
  await answer.body.dump();
  return askOwner(named.url, { [mergedIntoHeader]: named.mergedInto });
}

/** The service that answers a read; of a job, the one that its id begins with. */
function ownerOf({ owner }: RouteDeclaration, { params }: Request): Owner {
  return owner === 'job' ? jobNamed(String(params.id)).service : (owner as Owner);
}

/** The id of the organisation and of the credential in claims of a request without a credential. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** The claims of a request. For a route without a credential they say only that the gateway lets the request in. */
function claimsOf(req: GatewayRequest, ouId: string | undefined): InternalClaims {
  const { caller } = req;
  return {
    ...(ouId !== undefined && { ou_id: ouId }),
    organisation_id: caller?.organisationId ?? nobody,
    credential_id: caller?.credentialId ?? nobody,
    actor: caller?.actor ?? 'public',
    role: caller?.role ?? 'viewer',
    request_id: requestIdOf(req),
  };
}

/** The positions in ingest.events of a position in ingest.commands, once they are visible; or the owner's refusal. */
async function visiblePositions(minimum: string, ask: Ask): Promise<string | OwnerAnswer> {
  if (!decodePosition(minimum))
    throw problem('position_unknown', 'min_position must be the position of a 202 of this system.');
  const answer = await ask('ingest', `/internal/visible?position=${minimum}`);
  if (answer.statusCode !== 200) return answer;
  const { positions } = routeDeclarations.awaitVisible.responses[200].schema.parse(await answer.body.json());
  return positions;
}
