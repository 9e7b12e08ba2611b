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
