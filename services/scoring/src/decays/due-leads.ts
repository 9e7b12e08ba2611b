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
import { identityOf, leadName, type FoldedLeadEvent, type LeadIdentity } from '../leads/lead-batch.js';
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
   * Notes when a lead is due, also where that has not changed: an entry of another time may have been written by a fold that ended
   * before the lead was stored.
   * @param lead null: it is gone
   * @param decidedAt the offset of the event that says when the lead is due. The entry has this offset, and not that of the lead, so
   *   that it does not depend on how the log is cut into batches.
   */
  decided(name: string, lead: Lead | null, decidedAt: number): void {
    const due_at = lead?.decay?.due_at;
    this.states.put(name, due_at === undefined ? null : { due_at, offset: decidedAt });
    if (due_at !== undefined && due_at < this.#noneBefore) this.#noneBefore = due_at;
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

/** The offset of the last event that says when each lead is due, or removes it, by leadName. */
export function dueDecisionsIn(events: readonly FoldedLeadEvent[]): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  for (const event of events)
    if (event.type === 'LeadRemoved' || saysWhenDue(event))
      offsets.set(leadName(event.payload.ou_id, event.payload.lead_id), event.offset);
  return offsets;
}

/** Events of an OU that has had no decay rules do not. */
function saysWhenDue(event: FoldedLeadEvent): boolean {
  return (
    (event.type === 'LeadScored' || event.type === 'ScoreAdjusted') &&
    event.payload.decay_due_at !== undefined
  );
}
