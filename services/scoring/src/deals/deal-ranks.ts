// The order of leads by their deal scores, apart from the leads: an index of the leads would cost every write of a lead without
// deals. It follows from the leads, and is written before them: an event is not folded again once its lead is stored.
import {
  BufferedStates,
  defineCollection,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import { leadKey, leadOfKey, rankEdge, rankKey, rankPosition } from '../keys.js';
import { identityOf, leadName, type FoldedLeadEvent } from '../leads/lead-batch.js';
import type { Lead } from '../leads/state.js';
import { dealScoreOf } from './lead-score-model.js';

/** `_id` is leadKey. A lead with a deal score of 0 has none. */
export interface DealRankDocument extends GuardedDocument {
  _id: Binary;
  /** rankKey of the deal score. */
  rank: Binary;
}

export const dealRanks = defineCollection<DealRankDocument>({
  name: 'deal_ranks',
  indexes: [{ key: { rank: 1 } }],
});

interface DealRank {
  readonly score: number;
  readonly offset: number;
}

/** Leads whose ranks stay in memory: they are read only to be replaced. */
const maximumCached = 1_000;

/** The ranks of one partition, written with its leads. */
export class DealRanks {
  readonly states: BufferedStates<DealRank, DealRankDocument>;

  constructor(readModel: ReadModel, partition: number) {
    this.states = new BufferedStates(readModel, {
      collection: dealRanks,
      idOf: (name) => leadKey(...identityOf(name)),
      toState: ({ rank, offset }) => ({ score: Math.floor(rankPosition(rank)), offset }),
      toDocument: ({ score, offset }, name) => {
        const [ouId, leadId] = identityOf(name);
        return { _id: leadKey(ouId, leadId), rank: rankKey(ouId, score, leadId), partition, offset };
      },
      maximumCached,
    });
  }

  /**
   * Notes a changed lead.
   * @param after null: it is gone
   * @param decidedAt the offset of the last decision on its deal score in the batch. The rank has this offset, and not that of the
   *   lead, so that it does not depend on how the log is cut into batches.
   */
  changed(
    name: string,
    before: Lead | null | undefined,
    after: Lead | null,
    decidedAt: number | undefined,
  ): void {
    const hadRank = before?.deal_scores !== undefined && dealScoreOf(before.deal_scores) !== 0;
    if (!hadRank && decidedAt === undefined) return;
    const score = dealScoreOf(after?.deal_scores);
    // Also without a rank before: it may have been written by a fold that ended before the lead was stored.
    if (score === 0) this.states.put(name, null);
    else if (decidedAt !== undefined) this.states.put(name, { score, offset: decidedAt });
  }
}

/** The offset of the last decision on the deal score of each lead, by leadName. */
export function dealDecisionsIn(events: readonly FoldedLeadEvent[]): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  for (const { type, payload, offset } of events)
    if (type === 'ScoreAdjusted' && payload.score_type === 'deal')
      offsets.set(leadName(payload.ou_id, payload.lead_id), offset);
  return offsets;
}

/** A range of deal scores: `high` is not in it. */
export interface DealRankRange {
  readonly ouId: string;
  readonly low: number;
  readonly high: number;
}

export function countDealRanks(readModel: ReadModel, range: DealRankRange): Promise<number> {
  return readModel.collection(dealRanks).countDocuments({ rank: within(range) });
}

/** The ranks of leads in a range that does not have 0, in their order. */
export async function findDealRanks(
  readModel: ReadModel,
  range: DealRankRange,
  { after, up, skip, limit }: { after: Binary | null; up: boolean; skip: number; limit: number },
): Promise<{ lead_id: string; key: Binary; rank: Binary }[]> {
  const found = await readModel
    .collection(dealRanks)
    .find({
      $and: [{ rank: within(range) }, ...(after ? [{ rank: up ? { $gt: after } : { $lt: after } }] : [])],
    })
    .sort({ rank: up ? 1 : -1 })
    .skip(skip)
    .limit(limit)
    .toArray();
  return found.map(({ _id, rank }) => ({ lead_id: leadOfKey(_id), key: _id, rank }));
}

function within({ ouId, low, high }: DealRankRange) {
  return { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high) };
}
