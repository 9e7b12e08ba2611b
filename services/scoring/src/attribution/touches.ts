// The touches of leads, which ingest knows: asked for over its query port, some leads at a time.
import { attributionLimits, routeDeclarations } from '@lead-scoring/contracts';
import { problem, type QueryContext, type QueryPort } from '@lead-scoring/service';
import type { Touch } from './credit-model.js';
import { rangeTooLarge } from './won-deals.js';

/** Asks ingest in the name of the caller. */
export type TouchSource = Pick<QueryPort, 'ask'>;

export interface TouchedLeads {
  readonly leads: readonly string[];
  /** Only touches before this time. */
  readonly before: string;
}

const { listTouches, maximumTouchLeads } = routeDeclarations;

/** @throws ProblemError 422 `range_too_large` where the leads have too many events, 503 or 504 where ingest does not answer */
export async function touchesOf(
  ingest: TouchSource,
  { leads, before }: TouchedLeads,
  context: QueryContext,
): Promise<Touch[]> {
  const touches: Touch[] = [];
  let left = attributionLimits.events;
  for (let first = 0; first < leads.length; first += maximumTouchLeads) {
    const asked = { leads: leads.slice(first, first + maximumTouchLeads), before, maximum_events: left };
    const answer = await ask(ingest, asked, context);
    left -= answer.events;
    if (!answer.complete || left < 1)
      throw rangeTooLarge(
        `The leads of the won deals have ${String(attributionLimits.events)} events or more`,
      );
    touches.push(...answer.touches);
  }
  return touches;
}

async function ask(
  ingest: TouchSource,
  asked: object,
  { ouId, organisationId, credentialId, actor, role, requestId, signal }: QueryContext,
) {
  const answer = await ingest.ask(
    {
      ou_id: ouId,
      organisation_id: organisationId,
      credential_id: credentialId,
      actor,
      role,
      request_id: requestId,
    },
    listTouches.path,
    {
      method: listTouches.method,
      body: Buffer.from(JSON.stringify(asked)),
      headers: { 'content-type': 'application/json' },
      signal,
    },
  );
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    throw problem('service_unavailable', 'The events cannot be read now. Try again in a moment.', {
      headers: { 'Retry-After': '2' },
      cause: new Error(`ingest answered ${String(answer.statusCode)} to a question about touches`),
    });
  }
  return listTouches.responses[200].schema.parse(await answer.body.json());
}
