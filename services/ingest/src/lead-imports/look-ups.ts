// What is stored of the leads and events of some rows: which events have come before, and which leads are there.
import { findStoredIds, hexOf, type ReadModel } from '@lead-scoring/read-model';
import type { records } from '@lead-scoring/contracts';
import { knownEvents } from '../events/documents.js';
import { knownEventId } from '../events/keys.js';
import { endOfWay, leadsWithEvents, redirectsFrom } from '../events/leads-of-alias.js';
import type { ImportedRow } from './row-events.js';

export class RowLookUps {
  constructor(
    private readonly readModel: ReadModel,
    private readonly ouId: string,
  ) {}

  /** Which lead gets the events of each of these leads now. */
  async #now(leadIds: readonly string[]): Promise<(leadId: string) => string> {
    const redirectTo = await redirectsFrom(this.readModel, this.ouId, leadIds);
    return (leadId) => endOfWay(leadId, redirectTo);
  }

  /** Those of these events that were counted before, by their ids. */
  async known(events: readonly Pick<records.ChunkEvent, 'id' | 'lead_id'>[]): Promise<Set<string>> {
    const now = await this.#now(events.map(({ lead_id }) => lead_id));
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

  /**
   * The leads of these rows that are there already.
   * @param sure leads that are known to be there
   */
  async present(rows: readonly ImportedRow[], sure: readonly string[]): Promise<Set<string>> {
    const present = new Set<string>(sure);
    const leads = [...new Set(rows.map(({ events: [first] }) => first.lead_id))].filter(
      (lead) => !present.has(lead),
    );
    const now = await this.#now(leads);
    const withEvents = await leadsWithEvents(this.readModel, [...new Set(leads.map(now))]);
    for (const lead of leads) if (withEvents.has(now(lead))) present.add(lead);
    return present;
  }
}
