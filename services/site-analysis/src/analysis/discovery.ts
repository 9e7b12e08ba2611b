// What the ways of finding pages share.
import { OutboundRefused } from '@lead-scoring/outbound';
import { SiteNotFetched } from './errors.js';
import type { SitePages } from './site.js';
import type { Visitor } from './visit.js';

export interface Discovery {
  visitor: Visitor;
  pages: SitePages;
  signal: AbortSignal;
}

/** What a page of somebody else's site may be like: gone, forbidden, slow. Everything else is a fault of ours. */
export function isExpected(error: unknown): boolean {
  return error instanceof OutboundRefused || error instanceof SiteNotFetched;
}
