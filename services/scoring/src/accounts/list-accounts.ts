// Lists of accounts: by score, which costs what the page costs, and in other orders or by conditions, which reads all accounts of the OU.
import type { routes } from '@lead-scoring/contracts';
import {
  containsText,
  findPage,
  withClassifiedErrors,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import type { QueryInput } from '@lead-scoring/service';
import { leadKeysOf } from '../keys.js';
import { rankCursor, readRankCursor } from '../leads/cursor.js';
import { skipWithin, type ScoreRange } from '../leads/histogram-fold.js';
import { everyScore, scoreRange, type LevelBounds } from '../leads/score-range.js';
import { countAccounts, loadAccountStatistics } from './account-statistics.js';
import { accounts, shownFields, type AccountDocument, type ShownAccount } from './documents.js';
import { rankedAccounts } from './ranked-accounts.js';

type ListQuery = QueryInput<typeof routes.listAccounts>['query'];

export interface AccountPage {
  data: ShownAccount[];
  total: number;
  page: number;
  limit: number;
  next_cursor?: string | undefined;
}

/** @throws InvalidCursor */
export function listAccounts(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  level: LevelBounds,
): Promise<AccountPage> {
  const range = scoreRange(query, level);
  if (range.low > range.high)
    return Promise.resolve({ data: [], total: 0, page: query.page, limit: query.limit });
  const { q, account_kind, min_leads, active_since, sort } = query;
  const conditions: Filter<AccountDocument> = {
    ...(q !== undefined && { search: containsText(q.toLowerCase()) }),
    ...(account_kind !== undefined && { account_kind }),
    ...(min_leads !== undefined && { leads: { $gte: min_leads } }),
    ...(active_since !== undefined && { last_activity_at: { $gte: active_since } }),
  };
  const isByScore = sort === 'score' || sort === '-score';
  if (isByScore && Object.keys(conditions).length === 0) return listByScore(readModel, ouId, query, range);
  const { low, high } = range;
  if (low > everyScore.low || high < everyScore.high) conditions.score = { $gte: low, $lte: high };
  return findPage(readModel.collection(accounts), {
    filter: { ...conditions, _id: leadKeysOf(ouId) },
    sort: {
      field: sortFields[sort.replace('-', '') as keyof typeof sortFields],
      direction: sort.startsWith('-') ? 'descending' : 'ascending',
    },
    request: query,
    projection: Object.fromEntries(shownFields.map((field) => [field, 1])),
    toItem: (document) => document,
  });
}

const sortFields = {
  score: 'score',
  leads: 'leads',
  last_activity_at: 'last_activity_at',
  created_at: 'created_at',
  name: 'name_key',
} as const;

async function listByScore(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  whole: ScoreRange,
): Promise<AccountPage> {
  const direction = query.sort === 'score' ? 'ascending' : 'descending';
  const rank =
    query.cursor === undefined ? null : readRankCursor(query.cursor, ouId, direction, 'engagement');
  return withClassifiedErrors(async () => {
    const { accounts: histogram } = await loadAccountStatistics(readModel, ouId);
    const { range, skip } = skipWithin(
      histogram,
      whole,
      rank ? 0 : (query.page - 1) * query.limit,
      direction,
    );
    const [found, total] = await Promise.all([
      rankedAccounts(
        { readModel, ouId, direction, histogram },
        { range, from: rank && { rank, isIncluded: false }, skip, limit: query.limit + 1 },
        shownFields,
      ),
      countAccounts(readModel, ouId, histogram, whole),
    ]);
    const data = found.slice(0, query.limit);
    const last = data.at(-1);
    return {
      ...{ data, total, page: query.page, limit: query.limit },
      ...(last &&
        found.length > query.limit && { next_cursor: rankCursor(last.rank, direction, 'engagement') }),
    };
  });
}
