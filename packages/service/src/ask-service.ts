// Asks the query port of another service in the name of the caller whose request is being answered.
import type { z } from 'zod';
import { problem } from './problems.js';
import type { QueryPort } from './query-port.js';
import type { QueryContext, QueryResult, QueryRoute } from './query-server.js';

export type AskedService = Pick<QueryPort, 'ask'>;

export interface AskedQuery {
  /** Default: the path of the route. */
  path?: string;
  body?: object;
  /** What the caller is told when the other service does not answer as declared: a sentence. */
  otherwise: string;
}

/** @throws ProblemError 503 or 504 when the service is away, late, or answers anything but 200 */
export async function askService<
  const Route extends QueryRoute & { responses: { 200: { schema: z.ZodType } } },
>(
  service: AskedService,
  route: Route,
  { path = route.path, body, otherwise }: AskedQuery,
  { ouId, organisationId, credentialId, actor, role, requestId, signal }: QueryContext,
): Promise<QueryResult<Route>> {
  const answer = await service.ask(
    {
      ou_id: ouId,
      organisation_id: organisationId,
      credential_id: credentialId,
      actor,
      role,
      request_id: requestId,
    },
    path,
    {
      method: route.method,
      signal,
      ...(body && {
        body: Buffer.from(JSON.stringify(body)),
        headers: { 'content-type': 'application/json' },
      }),
    },
  );
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    throw problem('service_unavailable', `${otherwise} Try again in a moment.`, {
      headers: { 'Retry-After': '2' },
      cause: new Error(`${route.name} was answered with ${String(answer.statusCode)}`),
    });
  }
  return route.responses[200].schema.parse(await answer.body.json()) as QueryResult<Route>;
}
