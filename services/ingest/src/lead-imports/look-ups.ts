// What is stored of the leads and events of some rows: which events have come before, and which leads are there.
import { findStoredIds, hexOf, type ReadModel } from '@lead-scoring/read-model';
import type { records } from '@lead-scoring/contracts';
import { knownEvents } from '../events/documents.js';
import { knownEventId } from '../events/keys.js';
import { endOfWay, leadsWithEvents, redirectsFrom } from '../events/leads-of-alias.js';

/** The lead that gets the events of a lead. */
export type LeadNow = (leadId: string) => string;

export class RowLookUps {
  constructor(
    private readonly readModel: ReadModel,
    private readonly ouId: string,
  ) {}

  /** The lead that gets the events of each of these leads now. */
  async now(leadIds: readonly string[]): Promise<LeadNow> {
    const redirectTo = await redirectsFrom(this.readModel, this.ouId, leadIds);
    return (leadId) => endOfWay(leadId, redirectTo);
  }

  /** Those of these events that were counted before, by their ids. */
  async known(
    events: readonly Pick<records.ChunkEvent, 'id' | 'lead_id'>[],
    now: LeadNow,
  ): Promise<Set<string>> {
    const ids = new Map<string, string>();
    const keys = events.flatMap(({ id, lead_id }) =>
      // An event that came before its lead was linked to another is known there.
      [...new Set([lead_id, now(lead_id)])].map((lead) => {
        const key = knownEventId(lead, id);
        ids.set(hexOf(key), id);
        return key;
      }),
    );
    const found = await findStoredIds(this.readModel.collection(knownEvents), keys);
    return new Set(found.flatMap((key) => ids.get(hexOf(key)) ?? []));
  }

  /** Those of these leads that are there already. */
  async present(leads: readonly string[], now: LeadNow): Promise<Set<string>> {
    const withEvents = await leadsWithEvents(this.readModel, [...new Set(leads.map(now))]);
    return new Set(leads.filter((lead) => withEvents.has(now(lead))));
  }
}
