// Keeps the records of joining leads that the decision on a batch has read, to send them to the leads that these join. The fold of the
// same batch removes the joining leads, and takes their records from here, so that a join reads them once.
import type { RecordedEvents } from './sections.js';

/** A stored record of events, with its stored size. */
export type StoredEvents = RecordedEvents & { readonly bytes: number };

export class ReadHistories {
  readonly #records = new Map<string, readonly StoredEvents[]>();

  /** @param records all that are stored of the lead */
  keep(leadId: string, records: readonly StoredEvents[]): void {
    this.#records.set(leadId, records);
  }

  /** All stored records of a lead, for one caller; null: they were not read, or others were stored since. */
  take(leadId: string): readonly StoredEvents[] | null {
    const records = this.#records.get(leadId) ?? null;
    this.#records.delete(leadId);
    return records;
  }

  /** The record store calls it for each lead of which it stores further records. */
  forget(leadId: string): void {
    this.#records.delete(leadId);
  }

  /** The intake calls it before it decides on a batch, the record store before it changes stored records. */
  clear(): void {
    this.#records.clear();
  }
}
