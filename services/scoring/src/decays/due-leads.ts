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

/** The entries of one partition, written with its leads. */
export class DueLeads {
  readonly states: BufferedStates<DueLead, DueLeadDocument>;

  constructor(readModel: ReadModel, partition: number) {
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

  /** Notes a changed lead; null: it is gone. */
  changed(name: string, before: Lead | null | undefined, after: Lead | null): void {
    const due_at = after?.decay?.due_at;
    if (after && due_at !== undefined) {
      if (due_at !== before?.decay?.due_at) this.states.put(name, { due_at, offset: after.offset });
    } else if (before?.decay?.due_at !== undefined) this.gone(name);
  }

  gone(name: string): void {
    this.states.put(name, null);
  }
}

/** The leads of a partition that are due at a moment, those that are due longest first. */
export async function findDueLeads(
  readModel: ReadModel,
  partition: number,
  { asOf, limit }: { asOf: string; limit: number },
): Promise<LeadIdentity[]> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(dueLeads)
      .find({ partition, due_at: { $lte: asOf } })
      .sort({ due_at: 1 })
      .limit(limit)
      .project<Pick<DueLeadDocument, '_id'>>({ _id: 1 })
      .toArray(),
  );
  return found.map(({ _id }) => ({ ou_id: ouOfLeadKey(_id), lead_id: leadOfKey(_id) }));
}
