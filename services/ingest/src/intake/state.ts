// What a partition must know to decide on incoming events: which leads are redirected, and which aliases were claimed.
import type { Alias } from '@lead-scoring/contracts';

/** Where the events of a lead go. To the lead itself when it took its redirect back to end a ring of redirects. */
export interface Redirect {
  lead_id: string;
  alias: Alias;
}

/** Small beside the events, so a partition holds all of it in memory. */
export interface AliasState {
  /** By the lead that is redirected. A redirect is made once and changes only by being taken back. */
  redirects: Map<string, Redirect>;
  /** `claimKey`s: a lead claims an alias once. */
  claims: Set<string>;
}

export function emptyAliasState(): AliasState {
  return { redirects: new Map(), claims: new Set() };
}

export function claimKey(leadId: string, aliasLeadId: string): string {
  return `${leadId}${aliasLeadId}`;
}

/** Identifies an event within its lead: repeats are looked for there. */
export function eventKey(leadId: string, eventId: string): string {
  return `${leadId}${eventId}`;
}
