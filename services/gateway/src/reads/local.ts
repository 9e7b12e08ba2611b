// Routes of kind `local`, which the gateway answers by itself.
import { routes, type RouteDeclaration, type RouteName } from '@lead-scoring/contracts';
import { parseOrProblem, parseQuery } from '@lead-scoring/service';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Caller } from '../credentials/authenticate.js';
import { callerOf, untilCounted } from '../edge/request.js';

export type LocalRouteName = {
  [Name in RouteName]: (typeof routes)[Name] extends { kind: 'local' } ? Name : never;
}[RouteName];

/** What a handler answers that has sent its answer itself, in another form than JSON. */
export const AnswerSent = Symbol('the answer is sent');

/** Local routes that belong to a caller and answer 200 with JSON. */
type ListName = {
  [Name in LocalRouteName]: (typeof routes)[Name]['access'] extends { credential: true } ? Name : never;
}[LocalRouteName];

/** Local routes that need no credential, and whose handlers write the answer themselves. */
type OpenName = Exclude<LocalRouteName, ListName>;

type AnswerOf<Route> = Route extends { responses: { 200: { schema: infer Schema extends z.ZodType } } }
  ? z.output<Schema>
  : never;
type QueryOf<Route> = Route extends { query: infer Schema extends z.ZodType } ? z.output<Schema> : unknown;
type UnitOf<Route> = Route extends { access: { organisationUnit: 'none' } } ? undefined : string;

export type LocalHandlers = {
  [Name in ListName]: (input: {
    caller: Caller;
    ouId: UnitOf<(typeof routes)[Name]>;
    query: QueryOf<(typeof routes)[Name]>;
    req: Request;
    res: Response;
  }) => Promise<AnswerOf<(typeof routes)[Name]> | typeof AnswerSent>;
} & { [Name in OpenName]: (req: Request, res: Response) => void | Promise<void> };

/** The handler of a local route; undefined when there is none. */
export function localHandlerOf(
  route: RouteDeclaration,
  handlers: LocalHandlers,
): ((req: Request, res: Response, ouId: string | undefined) => Promise<void>) | undefined {
  const handler = Object.entries(handlers).find(([name]) => name === route.name)?.[1];
  if (!handler) return undefined;
  if (!route.access.credential) {
    const open = handler as LocalHandlers[OpenName];
    return async (req, res) => open(req, res);
  }
  const list = handler as (input: {
    caller: Caller;
    ouId: string | undefined;
    query: unknown;
    req: Request;
    res: Response;
  }) => Promise<unknown>;
  return async (req, res, ouId) => {
    const query = route.query ? parseOrProblem(route.query, parseQuery(req.url), 'query') : {};
    if (route.responses[200]?.alsoAs) res.vary('Accept');
    const answer = await list({ caller: callerOf(req), ouId, query, req, res });
    if (answer === AnswerSent) return;
    await untilCounted(req);
    res.json(answer);
  };
}
