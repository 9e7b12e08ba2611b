// Leads in the order of the scores of their accounts: the accounts by score, and of each its leads by id. So score, account and lead
// are a place in the order. Leads without an account are not in it: nothing lists them apart from all others.
import type { routes } from '@lead-scoring/contracts';
import { withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { QueryInput } from '@lead-scoring/service';
import type { ScoreRange } from '../leads/histogram-fold.js';
import type { LeadPage } from '../leads/stored-leads.js';
import { countLeads, loadAccountStatistics } from './account-statistics.js';
import { leadsOfAccounts } from './counted-leads.js';
import { placeCursor, readPlaceCursor } from './place-model.js';

type ListQuery = Pick<QueryInput<typeof routes.listLeads>['query'], 'sort' | 'page' | 'limit' | 'cursor'>;

/** The cost of a page depends on its size: the histograms give its start and its approximate end. */
export async function listByAccountScore(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  range: ScoreRange,
): Promise<LeadPage> {
  if (range.low > range.high) return { documents: [], total: 0 };
  const direction = query.sort === 'score' ? 'ascending' : 'descending';
  const from = query.cursor === undefined ? null : readPlaceCursor(query.cursor, { ouId, direction });
  return withClassifiedErrors(async () => {
    const { accounts: histogram, leads: leadHistogram } = await loadAccountStatistics(readModel, ouId);
    const order = { readModel, ouId, direction, histogram, leadHistogram } as const;
    const [places, total] = await Promise.all([
      leadsOfAccounts(order, range, {
        from,
        skip: from ? 0 : (query.page - 1) * query.limit,
        limit: query.limit + 1,
      }),
      countLeads(readModel, ouId, leadHistogram, range),
    ]);
    const shown = places.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      documents: shown.map(({ lead }) => lead),
      total,
      next_cursor: last && places.length > query.limit ? placeCursor(last.place, direction) : undefined,
    };
  });
}
