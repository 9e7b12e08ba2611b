// Leads in the order of their scores.
import type { routes } from '@lead-scoring/contracts';
import { withClassifiedErrors, type Binary, type ReadModel } from '@lead-scoring/read-model';
import type { QueryInput } from '@lead-scoring/service';
import { rankEdge, rankPosition } from '../keys.js';
import { rankCursor, readRankCursor } from './cursor.js';
import { leads, type LeadDocument } from './documents.js';
import { countWithin, skipWithin, stretchEnd, type Histogram, type ScoreRange } from './histogram-fold.js';
import { loadStatistics } from './statistics.js';
import type { LeadPage } from './stored-leads.js';

type ListQuery = QueryInput<typeof routes.listLeads>['query'];

/** A page costs what it shows: the histogram says where it starts and about where it ends. */
export async function listByScore(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  range: ScoreRange,
): Promise<LeadPage> {
  const direction = query.sort === 'score' ? 'ascending' : 'descending';
  if (range.low > range.high) return { documents: [], total: 0 };
  return withClassifiedErrors(async () => {
    const { histogram } = await loadStatistics(readModel, ouId);
    const { count, toCount } = countWithin(histogram, range);
    const from = query.cursor === undefined ? null : readRankCursor(query.cursor, ouId, direction);
    const start = from
      ? { range, skip: 0 }
      : skipWithin(histogram, range, (query.page - 1) * query.limit, direction);
    const [found, counted] = await Promise.all([
      start.range.low > start.range.high
        ? []
        : leadsInOrder(readModel, ouId, histogram, { ...start, from, limit: query.limit + 1, direction }),
      Promise.all(
        toCount.map(({ low, high }) =>
          readModel
            .collection(leads)
            .countDocuments({ rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high + 1) } }),
        ),
      ),
    ]);
    const documents = found.slice(0, query.limit);
    const last = documents.at(-1);
    return {
      documents,
      total: counted.reduce((sum, one) => sum + one, count),
      next_cursor: last && found.length > query.limit ? rankCursor(last.rank, direction) : undefined,
    };
  });
}

interface OrderedLeads {
  range: ScoreRange;
  /** The place after which to begin; null: at the range's end. */
  from: Binary | null;
  skip: number;
  limit: number;
  direction: 'ascending' | 'descending';
}

/** Leads that a stretch may hold beyond those wanted, so that it is rarely too short. */
const spareLeads = 64;

/**
 * Leads in the order of their scores. An engine that cannot sort by an index would put all leads of the range into
 * order: so it is asked for a stretch that has a few more than are wanted, and for a longer one if that had fewer.
 */
async function leadsInOrder(
  readModel: ReadModel,
  ouId: string,
  histogram: Histogram,
  { range, from, skip, limit, direction }: OrderedLeads,
): Promise<LeadDocument[]> {
  const up = direction === 'ascending';
  const [first, last] = up ? [range.low, range.high + 1] : [range.high + 1, range.low];
  const start = from ? rankPosition(from) : first;
  for (let wanted = skip + limit + spareLeads; ; wanted *= 4) {
    const end = stretchEnd(histogram, range, start, wanted, direction);
    const [low, high] = up ? [first, end] : [end, first];
    const within = { rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high) } };
    const documents = await readModel
      .collection(leads)
      .find(from ? { $and: [within, { rank: up ? { $gt: from } : { $lt: from } }] } : within)
      .sort({ rank: up ? 1 : -1 })
      .skip(skip)
      .limit(limit)
      .toArray();
    if (documents.length === limit || end === last) return documents;
  }
}
