// The index of leads by the time at which decay takes points next. It follows from the leads, and is written before them: an event
// is not folded again once its lead is stored.
import {
  BufferedStates,
  defineCollection,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import { leadKey, leadOfKey, ouOfLeadKey } from '../keys.js';
import { identityOf, type LeadIdentity } from '../leads/lead-batch.js';
import type { Lead } from '../leads/state.js';

/** `_id` is leadKey. A lead that is never due has none. */
export interface DueLeadDocument extends GuardedDocument {
  _id: Binary;
  due_at: string;
}

export const dueLeads = defineCollection<DueLeadDocument>({
  name: 'decay_due_leads',
  indexes: [{ key: { partition: 1, due_at: 1 } }],
});

interface DueLead {
  readonly due_at: string;
  readonly offset: number;
}

/** Leads whose entries stay in memory: they are read only to be replaced. */
const maximumCached = 1_000;

/** How far a look for due leads looks ahead, in milliseconds: until then, an index in which nothing becomes due is left alone. */
const lookAheadMs = 30_000;

/** The entries of one partition, written with its leads. */
export class DueLeads {
  readonly states: BufferedStates<DueLead, DueLeadDocument>;
  readonly #stored;
  /** No lead is due before this time. Empty: unknown. */
  #noneBefore = '';

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
  ) {
    this.#stored = readModel.collection(dueLeads);
    this.states = new BufferedStates(readModel, {
      collection: dueLeads,
      idOf: (name) => leadKey(...identityOf(name)),
      toState: ({ due_at, offset }) => ({ due_at, offset }),
      toDocument: ({ due_at, offset }, name) => ({
        _id: leadKey(...identityOf(name)),
        due_at,
        partition,
        offset,
      }),
      maximumCached,
    });
  }

  /**
   * Takes the entry of a lead that an event has changed, also where it is as before: a fold that ended before the lead was stored may have
   * written another.
   * @param lead null: it is gone
   * @param isNew whether the lead probably has no entry yet
   */
  put(name: string, lead: Lead | null, { isNew = false } = {}): void {
    const entry = lead?.due_entry;
    this.states.put(name, entry ? { due_at: entry.at, offset: entry.offset } : null, { isNew });
    if (entry && entry.at < this.#noneBefore) this.#noneBefore = entry.at;
  }

  /**
   * The leads that are due at a moment, those that are due longest first. The database is not asked as long as none can be.
   * @param write stores the entries that are in memory
   */
  async due(
    { asOf, limit }: { asOf: string; limit: number },
    write: () => Promise<void>,
  ): Promise<LeadIdentity[]> {
    if (asOf < this.#noneBefore) return [];
    const until = new Date(Date.parse(asOf) + lookAheadMs).toISOString();
    // Entries that are put in from here on lower it; those of before are written, and found.
    this.#noneBefore = until;
    try {
      await write();
      const found = await this.#find(until, limit);
      const [first] = found;
      if (first && first.due_at < this.#noneBefore) this.#noneBefore = first.due_at;
      return found
        .filter(({ due_at }) => due_at <= asOf)
        .map(({ _id }) => ({ ou_id: ouOfLeadKey(_id), lead_id: leadOfKey(_id) }));
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  #find(until: string, limit: number): Promise<Pick<DueLeadDocument, '_id' | 'due_at'>[]> {
    return withClassifiedErrors(() =>
      this.#stored
        .find({ partition: this.partition, due_at: { $lte: until } })
        .sort({ due_at: 1 })
        .limit(limit)
        .project<Pick<DueLeadDocument, '_id' | 'due_at'>>({ _id: 1, due_at: 1 })
        .toArray(),
    );
  }

  forget(): void {
    this.#noneBefore = '';
  }
}
