// The accounts of an OU in the order of their scores.
import type { Binary, Filter, ReadModel } from '@lead-scoring/read-model';
import { rankEdge, rankPosition } from '../keys.js';
import type { Histogram, ScoreRange } from '../leads/histogram-fold.js';
import type { Direction } from '../leads/score-sections.js';
import { readInStretches } from '../leads/score-stretches.js';
import { accounts, type AccountDocument } from './documents.js';

export interface AccountOrder {
  readonly readModel: ReadModel;
  readonly ouId: string;
  readonly direction: Direction;
  /** Accounts by score. */
  readonly histogram: Histogram;
}

export interface WantedAccounts {
  readonly range: ScoreRange;
  /** Where to begin; null: at the beginning of the range. */
  readonly from: { readonly rank: Binary; readonly isIncluded: boolean } | null;
  readonly skip: number;
  readonly limit: number;
}

/** @param fields the fields to read beside `_id` */
export function rankedAccounts<Field extends keyof AccountDocument>(
  { readModel, ouId, direction, histogram }: AccountOrder,
  { range, from, skip, limit }: WantedAccounts,
  fields: readonly Field[],
): Promise<Pick<AccountDocument, '_id' | Field>[]> {
  const start = from && rankPosition(from.rank);
  return readInStretches({ histogram, range, direction, start, skip, limit }, ({ low, high }) => {
    const stretch: Filter<AccountDocument> = {
      rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high) },
    };
    return readModel
      .collection(accounts)
      .find(from ? { $and: [stretch, { rank: beyond(from, direction) }] } : stretch)
      .sort({ rank: direction === 'ascending' ? 1 : -1 })
      .skip(skip)
      .limit(limit)
      .project<Pick<AccountDocument, '_id' | Field>>(Object.fromEntries(fields.map((field) => [field, 1])))
      .toArray();
  });
}

function beyond({ rank, isIncluded }: NonNullable<WantedAccounts['from']>, direction: Direction) {
  if (isIncluded) return direction === 'ascending' ? { $gte: rank } : { $lte: rank };
  return direction === 'ascending' ? { $gt: rank } : { $lt: rank };
}
