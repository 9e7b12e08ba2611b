// Lists of leads by owner, by text, by a saved filter, or in another order than by score.
import type { LeadScoreType, routes } from '@lead-scoring/contracts';
import { InvalidCursor, withClassifiedErrors, type Filter, type ReadModel } from '@lead-scoring/read-model';
import type { QueryInput } from '@lead-scoring/service';
import { leadKey, leadOfKey } from '../keys.js';
import { leadCursor, readLeadCursor } from './cursor.js';
import { leads, type LeadDocument } from './documents.js';
import type { ScoreRange } from './histogram-fold.js';
import { everyScore, type ScoreRanges } from './score-range.js';
import { leadsContaining } from './search.js';
import { loadStatistics } from './statistics.js';
import {
  fewMatches,
  findInOrder,
  inOrder,
  loadInOrder,
  scanFilter,
  textCondition,
  type LeadOrder,
  type LeadPage,
} from './stored-leads.js';

type ListQuery = Pick<
  QueryInput<typeof routes.listLeads>['query'],
  'owner' | 'q' | 'sort' | 'page' | 'limit' | 'cursor'
> & { score_type: LeadScoreType };

export interface LeadConditions {
  ranges: ScoreRanges;
  /** The query of a filter; absent: every lead. */
  filter?: Filter<LeadDocument> | undefined;
}

const scoreFields = { engagement: 'score', profile: 'profile_score', deal: 'deal_score' } as const;

const sortFields = {
  score: 'score',
  last_activity_at: 'last_activity_at',
  created_at: 'first_activity_at',
  name: 'name_key',
} as const;

/** Reads all leads of the OU, or those that the index of texts finds. */
export async function listFiltered(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  { ranges: { engagement, profile, deal }, filter }: LeadConditions,
): Promise<LeadPage> {
  const conditions: Filter<LeadDocument>[] = [];
  if (isBounded(engagement)) conditions.push({ score: within(engagement) });
  if (isBounded(profile)) conditions.push(sparseWithin('profile_score', profile));
  if (isBounded(deal)) conditions.push(sparseWithin('deal_score', deal));
  if (query.owner !== undefined) conditions.push({ owner: query.owner });
  if (query.q !== undefined) conditions.push(textCondition(query.q));
  if (filter) conditions.push(filter);
  const direction = query.sort.startsWith('-') ? -1 : 1;
  const order: LeadOrder = { field: sortFieldOf(query), direction };
  const listName = query.score_type === 'engagement' ? query.sort : `${query.sort}:${query.score_type}`;
  return withClassifiedErrors(async () => {
    const last =
      query.cursor === undefined ? null : await lastOfPage(readModel, ouId, query.cursor, listName);
    const nextCursor = (lead: Pick<LeadDocument, '_id'>) => leadCursor(leadOfKey(lead._id), listName);
    const among = query.q === undefined ? null : await leadsContaining(readModel, ouId, query.q);
    const matches =
      query.owner === undefined && query.q === undefined && !filter
        ? null
        : await fewMatches(readModel, { ouId, conditions, among }, order);
    if (matches) {
      const rest = last ? matches.filter((match) => inOrder(order)(match, last) > 0) : matches;
      const skip = last ? 0 : (query.page - 1) * query.limit;
      const shown = rest.slice(skip, skip + query.limit);
      const end = shown.at(-1);
      return {
        documents: await loadInOrder(readModel, shown),
        total: matches.length,
        next_cursor: end && skip + query.limit < rest.length ? nextCursor(end) : undefined,
      };
    }
    const [found, total] = await Promise.all([
      findInOrder(readModel, scanFilter({ ouId, conditions }), order, {
        last,
        skip: last ? 0 : (query.page - 1) * query.limit,
        limit: query.limit + 1,
      }),
      conditions.length === 0
        ? loadStatistics(readModel, ouId).then((statistics) => statistics.leads)
        : readModel.collection(leads).countDocuments(scanFilter({ ouId, conditions })),
    ]);
    const documents = found.slice(0, query.limit);
    const end = documents.at(-1);
    return { documents, total, next_cursor: end && found.length > query.limit ? nextCursor(end) : undefined };
  });
}

function sortFieldOf({ sort, score_type }: Pick<ListQuery, 'sort' | 'score_type'>): LeadOrder['field'] {
  const field = sortFields[sort.replace('-', '') as keyof typeof sortFields];
  return field === 'score' ? scoreFields[score_type] : field;
}

function isBounded({ low, high }: ScoreRange): boolean {
  return low > everyScore.low || high < everyScore.high;
}

function within({ low, high }: ScoreRange) {
  return { $gte: low, $lte: high };
}

/** A lead without the score counts as 0. */
function sparseWithin(field: 'profile_score' | 'deal_score', range: ScoreRange): Filter<LeadDocument> {
  const stored: Filter<LeadDocument> = { [field]: within(range) };
  return range.low <= 0 && 0 <= range.high ? { $or: [stored, { [field]: { $exists: false } }] } : stored;
}

/** @throws InvalidCursor */
async function lastOfPage(
  readModel: ReadModel,
  ouId: string,
  cursor: string,
  listName: string,
): Promise<LeadDocument> {
  const last = await readModel
    .collection(leads)
    .findOne({ _id: leadKey(ouId, readLeadCursor(cursor, listName)) });
  if (!last) throw new InvalidCursor();
  return last;
}
