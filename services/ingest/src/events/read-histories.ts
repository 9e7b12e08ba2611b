// The records of leads that a batch was decided on, because they are sent to the leads that these join. The fold of the same batch removes
// the leads, and takes their records from here: a join reads them once.
import type { FoldedEvents } from './sections.js';

/** A stored record of events, with its stored size. */
export type StoredEvents = Omit<FoldedEvents, 'json'> & { readonly bytes: number };

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

  /** To be called when records of the lead are stored. */
  forget(leadId: string): void {
    this.#records.delete(leadId);
  }

  /** To be called before a batch is decided, and when stored records have changed. */
  clear(): void {
    this.#records.clear();
  }
}
