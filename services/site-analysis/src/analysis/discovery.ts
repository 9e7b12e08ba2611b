// The context that all ways of finding pages share.
import { OutboundRefused } from '@lead-scoring/outbound';
import { SiteNotFetched } from './errors.js';
import type { SitePages } from './site.js';
import type { Visitor } from './visit.js';

export interface Discovery {
  visitor: Visitor;
  pages: SitePages;
  signal: AbortSignal;
}

/** Whether an error is the site's fault, such as a missing, forbidden or slow page; all others are faults of this service. */
export function isExpected(error: unknown): boolean {
  return error instanceof OutboundRefused || error instanceof SiteNotFetched;
}
