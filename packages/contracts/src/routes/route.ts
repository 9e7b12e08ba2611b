// How an HTTP route is declared. The gateway's router, its validation, OpenAPI and the client are made from it.
import { z } from 'zod';
import { leadId } from '../common.js';
import type { ProblemCode } from '../rejections.js';
import type { Role, Scope } from '../records/gateway.js';
import type { ServiceName } from '../records/record.js';

export interface RouteResponse {
  description: string;
  /** Absent: the answer has no body. */
  schema?: z.ZodType;
  /** Default application/json. */
  contentType?: string;
  /** Further media types, of which the caller's Accept chooses. */
  alsoAs?: readonly string[];
}

export interface RouteDeclaration {
  /** Stable name, camelCase, verb first: OpenAPI's operationId and the typed client's method. */
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** OpenAPI form: `/leads/{id}`. */
  path: string;
  /** Further paths of the same route, without parameters, which no document lists. */
  alsoAt?: readonly string[];
  /** job: the service that the job's id begins with. jobs: every service that runs jobs; the gateway merges their lists. */
  owner: ServiceName | 'job' | 'jobs';
  /**
   * - command: the gateway validates it, writes a command to the owner's topic and waits for the reply
   * - intake: like a command, but answered as soon as Kafka has acknowledged it
   * - query: the gateway forwards it to the owner's query port; a POST that changes nothing is a query too
   * - local: the gateway answers it itself
   */
  kind: 'command' | 'intake' | 'query' | 'local';
  access:
    | { credential: false }
    | {
        credential: true;
        /** The least role of a member. */
        role: Role;
        /** The scope of a service account; null: only members may call it. */
        scope: Scope | null;
        organisationUnit: 'active' | 'path' | 'none';
      };
  tag:
    | 'Events'
    | 'Leads'
    | 'Deals'
    | 'Accounts'
    | 'Analytics'
    | 'Share links'
    | 'Scoring configuration'
    | 'Filters'
    | 'Bulk rule updates'
    | 'Notification channels'
    | 'Triggers'
    | 'Deliveries'
    | 'Jobs'
    | 'Site analysis'
    | 'Session'
    | 'Admin'
    | 'Description';
  summary: string;
  description?: string;
  parameters?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Media types of the body; default application/json. */
  bodyTypes?: readonly string[];
  /** The forms of those media types whose content is not `body`. */
  bodyForms?: Readonly<Record<string, z.ZodType>>;
  responses: Record<number, RouteResponse>;
  /**
   * Pages of any origin may send to it: its answers have the headers of CORS, and a write key in the body takes the place of a missing
   * header Authorization.
   */
  fromBrowsers?: boolean;
  /** Problems that this route can answer, besides those that follow from the rest of its declaration. */
  problems: readonly ProblemCode[];
  /** A query: its answer has an ETag. A command: it takes If-Match, and is refused when the resource has another version. */
  entityTag?: boolean;
  /** True when the 2xx answer shows a secret once. For Idempotency-Key such an answer is derived again, not stored. */
  showsSecret?: boolean;
  /** Queries with an answer of any size: the longest time that the gateway waits for a further part of it. */
  partTimeoutMs?: number;
  /** Commands that start a job: how long the answer waits for its result (200), before it is the job (202). */
  waitsForJobMs?: number;
  /** Commands: the minimum time that the gateway waits for the reply, for commands that take long by nature. */
  replyTimeoutMs?: number;
}

export function defineRoute<const Route extends RouteDeclaration>(route: Route): Route {
  return route;
}

export const viewer = {
  credential: true,
  role: 'viewer',
  scope: 'read',
  organisationUnit: 'active',
} as const;
export const editor = {
  credential: true,
  role: 'editor',
  scope: 'write',
  organisationUnit: 'active',
} as const;
export const admin = { credential: true, role: 'admin', scope: 'admin', organisationUnit: 'active' } as const;
export const intake = {
  credential: true,
  role: 'editor',
  scope: 'ingest',
  organisationUnit: 'active',
} as const;

/** Whether a request may omit the body: an empty object satisfies the schema. */
export function bodyIsOptional({ body }: Pick<RouteDeclaration, 'body'>): boolean {
  return body?.safeParse({}).success === true;
}

/** Whether the route is a page for people. Its problems are then shown on a page as well. */
export function isPage(route: Pick<RouteDeclaration, 'kind' | 'responses'>): boolean {
  return route.kind === 'query' && route.responses[200]?.contentType === 'text/html';
}

/** Express form of the path: `/leads/:id`. */
export function expressPath(route: RouteDeclaration): string {
  return route.path.replace(/\{(\w+)\}/g, ':$1');
}

/** The names of the path and query parameters that hold a lead's id. */
export function leadParametersOf({ parameters, query }: Pick<RouteDeclaration, 'parameters' | 'query'>): {
  path: string[];
  query: string[];
} {
  const namesIn = (schema: z.ZodObject | undefined) =>
    Object.entries(schema?.shape ?? {}).flatMap(([name, field]) =>
      (field instanceof z.ZodOptional ? field.unwrap() : field) === leadId ? [name] : [],
    );
  return { path: namesIn(parameters), query: namesIn(query) };
}
