// The order of leads by their profile scores and by their deal scores, apart from the leads: an index of the leads would cost every
// write of a lead that has no such score. It follows from the leads, and is written before them: an event is not folded again once
// its lead is stored.
import {
  BufferedStates,
  defineCollection,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import { leadKey, leadOfKey, rankEdge, rankKey, rankPosition } from '../keys.js';
import { identityOf, leadName, type LeadBatch } from './lead-batch.js';
import { sparseScoreOf, type SparseScoreType } from './sparse-scores.js';
import type { Lead } from './state.js';

/** `_id` is leadKey. A lead with a score of 0 has none. */
export interface ScoreRankDocument extends GuardedDocument {
  _id: Binary;
  /** rankKey of the score. */
  rank: Binary;
}

const ranksOf = (name: string) =>
  defineCollection<ScoreRankDocument>({ name, indexes: [{ key: { rank: 1 } }] });

export const scoreRanks = { profile: ranksOf('profile_ranks'), deal: ranksOf('deal_ranks') };

interface ScoreRank {
  readonly score: number;
  readonly offset: number;
}

/** Leads whose ranks stay in memory: they are read only to be replaced. */
const maximumCached = 1_000;

/** The ranks of one partition by one score, written with its leads. */
export class ScoreRanks {
  readonly states: BufferedStates<ScoreRank, ScoreRankDocument>;

  constructor(
    readModel: ReadModel,
    partition: number,
    private readonly scoreType: SparseScoreType,
  ) {
    this.states = new BufferedStates(readModel, {
      collection: scoreRanks[scoreType],
      idOf: (name) => leadKey(...identityOf(name)),
      toState: ({ rank, offset }) => ({ score: Math.floor(rankPosition(rank)), offset }),
      toDocument: ({ score, offset }, name) => {
        const [ouId, leadId] = identityOf(name);
        return { _id: leadKey(ouId, leadId), rank: rankKey(ouId, score, leadId), partition, offset };
      },
      maximumCached,
    });
  }

  /** Notes the changed leads of a batch. */
  take({ events, before, after, changed }: Pick<LeadBatch, 'events' | 'before' | 'after' | 'changed'>): void {
    const decided = this.#decisionsIn(events);
    for (const name of changed) {
      const decidedAt = decided.get(name);
      if (decidedAt === undefined && this.#scoreOf(before.get(name)) === 0) continue;
      const score = this.#scoreOf(after.get(name));
      // Also without a rank before: it may have been written by a fold that ended before the lead was stored.
      if (score === 0) this.states.put(name, null);
      else if (decidedAt !== undefined) this.states.put(name, { score, offset: decidedAt });
    }
  }

  /**
   * The offset of the last decision on the score of each lead, by leadName. The rank has this offset, and not that of the lead, so
   * that it does not depend on how the log is cut into batches.
   */
  #decisionsIn(events: LeadBatch['events']): ReadonlyMap<string, number> {
    const offsets = new Map<string, number>();
    for (const { type, payload, offset } of events)
      if (type === 'ScoreAdjusted' && payload.score_type === this.scoreType)
        offsets.set(leadName(payload.ou_id, payload.lead_id), offset);
    return offsets;
  }

  #scoreOf(lead: Lead | null | undefined): number {
    return sparseScoreOf(lead, this.scoreType);
  }
}

/** A range of scores: `high` is not in it. */
export interface RankRange {
  readonly ouId: string;
  readonly low: number;
  readonly high: number;
}

export function countRanks(
  readModel: ReadModel,
  scoreType: SparseScoreType,
  range: RankRange,
): Promise<number> {
  return readModel.collection(scoreRanks[scoreType]).countDocuments({ rank: within(range) });
}

/** The ranks of leads in a range that does not have 0, in their order. */
export async function findRanks(
  readModel: ReadModel,
  scoreType: SparseScoreType,
  range: RankRange,
  { after, up, skip, limit }: { after: Binary | null; up: boolean; skip: number; limit: number },
): Promise<{ lead_id: string; key: Binary; rank: Binary }[]> {
  const found = await readModel
    .collection(scoreRanks[scoreType])
    .find({
      $and: [{ rank: within(range) }, ...(after ? [{ rank: up ? { $gt: after } : { $lt: after } }] : [])],
    })
    .sort({ rank: up ? 1 : -1 })
    .skip(skip)
    .limit(limit)
    .toArray();
  return found.map(({ _id, rank }) => ({ lead_id: leadOfKey(_id), key: _id, rank }));
}

function within({ ouId, low, high }: RankRange) {
  return { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high) };
}
