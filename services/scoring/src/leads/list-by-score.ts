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

/** The cost of a page depends on its size alone: the histogram gives its start and its approximate end. */
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
  /** The rank after which to begin; null: at the beginning of the range. */
  from: Binary | null;
  skip: number;
  limit: number;
  direction: 'ascending' | 'descending';
}

/** Leads to request beyond the wanted ones, so that a section rarely has too few. */
const spareLeads = 64;

/**
 * Leads in the order of their scores. A database that cannot sort by an index would sort all leads of the range. So the query is for
 * a section with a few more leads than wanted, and for a longer section if that had too few.
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
