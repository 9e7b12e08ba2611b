// What a partition must know to decide on incoming events: which leads are redirected, and which aliases were claimed.
import type { Alias } from '@lead-scoring/contracts';
import type { EventBody } from '../repeats/differs-model.js';

/** Where the events of a lead go. To the lead itself when it took its redirect back to end a ring of redirects. */
export interface Redirect {
  lead_id: string;
  alias: Alias;
}

/** What is to be known of a batch's leads; of others nothing is said. */
export interface LookedUpAliases {
  redirects: { get(leadId: string): Redirect | undefined };
  /** Of a lead that may be deleted all of its claims, of another one those that the batch may make or must know. */
  claims: ReadonlyMap<string, ReadonlySet<string>>;
  /** By OU whose leads may claim, how many aliases they have claimed in this partition; absent for none. */
  counts: ReadonlyMap<string, number>;
}

/** All redirects and claims of a partition. */
export interface AliasState {
  /** By the lead that is redirected. A redirect is made once, and changes only by being taken back or by a deletion. */
  redirects: Map<string, Redirect>;
  /** By the lead that claims, the leads that the aliases name by themselves: a lead claims an alias once. */
  claims: Map<string, Set<string>>;
  /** By OU, how many claims there are. */
  counts: Map<string, number>;
}

/** What a partition looks up of a lead that may be deleted. */
export interface HeldLead {
  /** The OU of the events that are stored of it; null without any. */
  ou_id: string | null;
  /** Its last deletion. */
  deletion_id: string | null;
  /** Its stored events that may come again under an alias which names another lead by itself: by that lead. */
  foreign: ReadonlyMap<string, readonly string[]>;
}

/** By `eventKey`, events of the batch that are stored already; null where what was sent is not at hand. */
export type StoredRepeats = ReadonlyMap<string, EventBody | null>;

export function addClaim(claims: AliasState['claims'], leadId: string, aliasLeadId: string): void {
  const known = claims.get(leadId);
  if (known) known.add(aliasLeadId);
  else claims.set(leadId, new Set([aliasLeadId]));
}

/** Identifies an event within its lead: repeats are looked for there. */
export function eventKey(leadId: string, eventId: string): string {
  return `${leadId}${eventId}`;
}
