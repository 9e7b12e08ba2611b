// The touches of leads, which ingest knows: asked for over its query port, some leads at a time.
import { attributionLimits, routeDeclarations } from '@lead-scoring/contracts';
import { askService, type AskedService, type QueryContext } from '@lead-scoring/service';
import type { Touch } from './credit-model.js';
import { rangeTooLarge } from './won-deals.js';

export interface TouchedLeads {
  readonly leads: readonly string[];
  /** Only touches before this time. */
  readonly before: string;
}

const { listTouches, maximumTouchLeads } = routeDeclarations;

/** @throws ProblemError 422 `range_too_large` where the leads have too many events, 503 or 504 where ingest does not answer */
export async function touchesOf(
  ingest: AskedService,
  { leads, before }: TouchedLeads,
  context: QueryContext,
): Promise<Touch[]> {
  const touches: Touch[] = [];
  let left = attributionLimits.events;
  for (let first = 0; first < leads.length; first += maximumTouchLeads) {
    const asked = { leads: leads.slice(first, first + maximumTouchLeads), before, maximum_events: left };
    const answer = await askService(
      ingest,
      listTouches,
      { body: asked, otherwise: 'The events cannot be read now.' },
      context,
    );
    left -= answer.events;
    if (!answer.complete || left < 1)
      throw rangeTooLarge(
        `The leads of the won deals have ${String(attributionLimits.events)} events or more`,
      );
    touches.push(...answer.touches);
  }
  return touches;
}
