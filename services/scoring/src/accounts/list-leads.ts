// Leads in the order of the scores of their accounts: the accounts by score, and of each its leads by id. A lead without an account
// has a score of 0, and comes before the leads of all accounts of this score. So score, account and lead are a place in the order.
import type { routes } from '@lead-scoring/contracts';
import { bytesOf, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { QueryInput } from '@lead-scoring/service';
import { leadKey, leadKeysOf, leadOfKey, rankEdge, rankKey, rankPosition } from '../keys.js';
import { leads, type LeadDocument } from '../leads/documents.js';
import type { ScoreRange } from '../leads/histogram-fold.js';
import { everyScore } from '../leads/score-range.js';
import { loadStatistics } from '../leads/statistics.js';
import type { LeadPage } from '../leads/stored-leads.js';
import {
  leadsOfAccounts,
  sumOfLeads,
  type AccountOrder,
  type FoundPlaces,
  type RankRange,
  type WantedPlaces,
} from './counted-leads.js';
import { noAccount, placeCursor, readPlaceCursor, type Place, type PlacedLead } from './place-model.js';

type ListQuery = Pick<QueryInput<typeof routes.listLeads>['query'], 'sort' | 'page' | 'limit' | 'cursor'>;

/** Accounts whose ranks lie in a range, or the leads without an account. */
type Section = { readonly ranks: RankRange } | { readonly ranks: null };

/**
 * The cost of a page by cursor depends on its size, and on how many leads have no account where these are wanted. A total within
 * bounds adds up the leads of the accounts in the range.
 */
export async function listByAccountScore(
  readModel: ReadModel,
  ouId: string,
  query: ListQuery,
  range: ScoreRange,
): Promise<LeadPage> {
  if (range.low > range.high) return { documents: [], total: 0 };
  const direction = query.sort === 'score' ? 'ascending' : 'descending';
  const order = { readModel, ouId, direction } as const;
  return withClassifiedErrors(async () => {
    const [places, total] = await Promise.all([
      findPage(order, sectionsOf(order, range), query),
      countWithin(order, range),
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

/** The sections of a range, in the direction of the list. */
function sectionsOf({ ouId, direction }: AccountOrder, { low, high }: ScoreRange): Section[] {
  const ranks = (from: number, to: number): Section[] =>
    from >= to ? [] : [{ ranks: { $gte: rankEdge(ouId, from), $lt: rankEdge(ouId, to) } }];
  const sections: Section[] =
    low <= 0 && 0 <= high ? [...ranks(low, 0), { ranks: null }, ...ranks(0, high + 1)] : ranks(low, high + 1);
  return direction === 'ascending' ? sections : sections.reverse();
}

/** The leads of a page and, where there is one, the lead behind it. */
async function findPage(
  order: AccountOrder,
  sections: readonly Section[],
  query: Pick<ListQuery, 'cursor' | 'page' | 'limit'>,
): Promise<PlacedLead[]> {
  const from = query.cursor === undefined ? null : readPlaceCursor(query.cursor, order);
  const found: PlacedLead[] = [];
  let skip = from ? 0 : (query.page - 1) * query.limit;
  for (const section of sections) {
    const limit = query.limit + 1 - found.length;
    if (limit <= 0) break;
    if (from && isPassed(section, from, order)) continue;
    const wanted = { from, skip, limit };
    const read = section.ranks
      ? await leadsOfAccounts(order, section.ranks, wanted)
      : await leadsWithoutAccount(order, wanted);
    found.push(...read.found);
    skip = read.skip;
  }
  return found;
}

/** Whether all places of a section lie before one. */
function isPassed(section: Section, { rank, account_id }: Place, { direction }: AccountOrder): boolean {
  const score = Math.floor(rankPosition(rank));
  const up = direction === 'ascending';
  if (!section.ranks) return up ? score > 0 || (score === 0 && account_id !== noAccount) : score < 0;
  const { $gte, $lt } = section.ranks;
  return up
    ? Buffer.compare(bytesOf($lt), bytesOf(rank)) <= 0
    : Buffer.compare(bytesOf($gte), bytesOf(rank)) >= 0;
}

/** In the order of their ids, by the primary index. Leads that have an account lie among them. */
async function leadsWithoutAccount(
  order: AccountOrder,
  { from, skip, limit }: WantedPlaces,
): Promise<FoundPlaces> {
  const { readModel, ouId, direction } = order;
  const count = await countWithoutAccount(order);
  if (count <= skip) return { found: [], skip: skip - count };
  const up = direction === 'ascending';
  const last = from?.account_id === noAccount ? leadKey(ouId, from.lead_id) : null;
  const found = await readModel
    .collection(leads)
    .find({
      $and: [
        { _id: leadKeysOf(ouId) },
        { account: { $exists: false } },
        ...(last ? [{ _id: up ? { $gt: last } : { $lt: last } }] : []),
      ],
    })
    .sort({ _id: up ? 1 : -1 })
    .skip(skip)
    .limit(limit)
    .toArray();
  const rank = rankKey(ouId, 0, noAccount);
  const placed = (lead: LeadDocument): PlacedLead => ({
    lead,
    place: { rank, account_id: noAccount, lead_id: leadOfKey(lead._id) },
  });
  return { found: found.map(placed), skip: 0 };
}

async function countWithoutAccount({ readModel, ouId }: AccountOrder): Promise<number> {
  const [{ leads: all }, counted] = await Promise.all([
    loadStatistics(readModel, ouId),
    sumOfLeads(readModel, ouId, everyScore),
  ]);
  return Math.max(0, all - counted);
}

async function countWithin(order: AccountOrder, range: ScoreRange): Promise<number> {
  const { readModel, ouId } = order;
  if (range.low === everyScore.low && range.high === everyScore.high)
    return (await loadStatistics(readModel, ouId)).leads;
  const [counted, without] = await Promise.all([
    sumOfLeads(readModel, ouId, range),
    range.low <= 0 && 0 <= range.high ? countWithoutAccount(order) : 0,
  ]);
  return counted + without;
}
