// The state with which a partition decides on incoming events: redirects of leads and claims of aliases.
import type { Alias, records, SetMetadata } from '@lead-scoring/contracts';
import type { EventBody } from '../repeats/body-model.js';

/** The lead to which the events of a lead are forwarded; the lead itself, when it took its redirect back to end a ring. */
export interface Redirect {
  lead_id: string;
  alias: Alias;
  linked_at: string;
}

/** The redirects, claims and counts that one batch needs; it has no others. */
export interface LookedUpAliases {
  redirects: { get(leadId: string): Redirect | undefined };
  /** For a lead that may be deleted, all of its claims; for others, those that the batch may make or must check. */
  claims: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * The leads of `possibleVisitors` that have events. Other partitions store these events, so the look-up may miss a lead: then the
   * event does not wait for the past of that lead, which comes after the event.
   */
  visitors: ReadonlySet<string>;
  /** The leads of `possibleLeads` that have events or claims, with their OUs. */
  leads: ReadonlyMap<string, string>;
  /** The last deletions of the leads of `possibleReturns`, by lead; absent for a lead that was never deleted. */
  deletions: ReadonlyMap<string, string>;
  /** By `eventKey`, the events of `possiblePasts` that their leads have kept since their last ends. */
  keptSince: ReadonlySet<string>;
  /** The leads of `possiblePatches` that have events or are being divided, with their OUs. */
  eventful: ReadonlyMap<string, string>;
  /** What is set for the leads of `possibleMetadata`; absent for a lead for which nothing is. */
  metadata: ReadonlyMap<string, KnownMetadata>;
  /** The number of claimed aliases in this partition, for OUs whose leads may claim; absent for none. */
  counts: ReadonlyMap<string, number>;
}

/** What is set for a lead. */
export interface KnownMetadata extends SetMetadata {
  /** The ids of the last patches, the oldest first. */
  readonly patches: readonly string[];
  /** When it was last changed. */
  readonly patched_at: string;
}

/** The look-ups in redirects and claims alone. */
export type LookedUpLinks = Pick<LookedUpAliases, 'redirects' | 'claims' | 'counts'>;

/** All redirects and claims of a partition. */
export interface AliasState {
  /** By redirected lead. A redirect changes only when it is taken back, ended by a caller, or ended by the deletion of a lead. */
  redirects: Map<string, Redirect>;
  /** By claiming lead, the leads that the claimed aliases name without a redirect. A lead claims an alias once. */
  claims: Map<string, Set<string>>;
  /** The number of claims by OU. */
  counts: Map<string, number>;
}

/** The stored data of a lead that may be deleted. */
export interface StoredLead {
  /** The OU of its stored events or, while its only event waits for the past of an alias, of its claims; null without either. */
  ou_id: string | null;
  /** The id of its last deletion. */
  deletion_id: string | null;
  /** The ids of its events that may come again under an alias that names another lead without a redirect, by that lead. */
  foreign: ReadonlyMap<string, readonly string[]>;
}

/** The next stored records of a lead that joins another. */
export interface HistoryPage {
  /** In the order of the log, without events that were deleted with their type. */
  records: readonly records.EventsIngested[];
  /** Whether anything is stored of the lead. */
  exists: boolean;
  /** The offset from which the next page begins; null: this is the last. */
  next: number | null;
}

/** By `historyKey` of its place. A page that would be too much for the batch is absent. */
export type HistoryPages = ReadonlyMap<string, HistoryPage>;

/** The next records of a lead that is divided. */
export interface DividedPage {
  /** In the order of the log, each with whether it is of the lead that leaves. */
  readonly records: readonly { readonly payload: records.EventsIngested; readonly leaves: boolean }[];
  /** The offset from which the next page begins; null: the page is empty and the last. */
  readonly next: number | null;
  /** The leads that leave together with the lead that leaves, among those whose metadata the divided lead has. */
  readonly leaving: ReadonlySet<string>;
}

/** By `dividedKey`. A page that would be too much for the batch is absent. */
export type DividedPages = ReadonlyMap<string, DividedPage>;

export function dividedKey({ deletion_id, from }: Pick<records.SendDivided, 'deletion_id' | 'from'>): string {
  return `${deletion_id}${String(from)}`;
}

/** The place of a page: a lead, and the offset from which its records are read. */
export type HistoryPlace = Pick<records.JoinLead, 'ou_id' | 'alias_lead_id' | 'from'>;

export function historyKey({ alias_lead_id, from }: Pick<HistoryPlace, 'alias_lead_id' | 'from'>): string {
  return `${alias_lead_id}${String(from)}`;
}

/** The events of the batch that are stored already, by `eventKey`; null when the stored event was not read. */
export type StoredRepeats = ReadonlyMap<string, EventBody | null>;

export function addClaim(claims: AliasState['claims'], leadId: string, aliasLeadId: string): void {
  const known = claims.get(leadId);
  if (known) known.add(aliasLeadId);
  else claims.set(leadId, new Set([aliasLeadId]));
}

/** The key of an event within its lead, by which repeats are found. */
export function eventKey(leadId: string, eventId: string): string {
  return `${leadId}${eventId}`;
}
