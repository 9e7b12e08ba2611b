// Reads stored accounts: one, a page in the order of scores, and the leads of an account with the highest scores.
import type { routeDeclarations, routes } from '@lead-scoring/contracts';
import { containsText, withClassifiedErrors, type Filter, type ReadModel } from '@lead-scoring/read-model';
import { ProblemError, type QueryInput } from '@lead-scoring/service';
import { leadKey, leadOfKey, rankEdge } from '../keys.js';
import { rankCursor, readRankCursor } from '../leads/cursor.js';
import type { LeadDocument } from '../leads/documents.js';
import { stretchEnd } from '../leads/histogram-fold.js';
import { everyLevel, everyScore, scoreRange } from '../leads/score-range.js';
import { loadLeads } from '../leads/stored-leads.js';
import {
  accountLeads,
  accounts,
  leadOfAccountLeadKey,
  toAccount,
  type AccountDocument,
  type AccountLeadDocument,
} from './documents.js';
import type { Account } from './state.js';

/** @throws ProblemError 404 `account_not_found`, both for an account of another OU and for an unknown one */
export async function findAccount(readModel: ReadModel, ouId: string, accountId: string): Promise<Account> {
  const found = await storedAccount(readModel, ouId, accountId);
  if (!found)
    throw new ProblemError(404, 'account_not_found', 'No account of this organizational unit has this id.');
  return toAccount(found, ouId);
}

/** The account in which a lead of the OU counts; null where it counts in none, or its account was not decided on yet. */
export async function findAccountOf(
  readModel: ReadModel,
  ouId: string,
  { account }: Pick<LeadDocument, 'account'>,
): Promise<Account | null> {
  if (!account) return null;
  const found = await storedAccount(readModel, ouId, account.account_id);
  return found && toAccount(found, ouId);
}

function storedAccount(
  readModel: ReadModel,
  ouId: string,
  accountId: string,
): Promise<AccountDocument | null> {
  return withClassifiedErrors(() =>
    readModel.collection(accounts).findOne({ _id: leadKey(ouId, accountId) }),
  );
}

/** The scores of the accounts in which these leads count, by the ids of the accounts. */
export async function loadAccountScores(
  readModel: ReadModel,
  ouId: string,
  found: readonly Pick<LeadDocument, 'account'>[],
): Promise<Map<string, number>> {
  const accountIds = new Set(found.flatMap(({ account }) => account?.account_id ?? []));
  if (accountIds.size === 0) return new Map();
  const keys = [...accountIds].map((accountId) => leadKey(ouId, accountId));
  const stored = await withClassifiedErrors(() =>
    readModel
      .collection(accounts)
      .find({ _id: { $in: keys } })
      .project<Pick<AccountDocument, '_id' | 'score'>>({ score: 1 })
      .toArray(),
  );
  return new Map(stored.map(({ _id, score }) => [leadOfKey(_id), score]));
}

export interface AccountPage {
  found: Account[];
  total: number;
  next_cursor?: string | undefined;
}

/** @throws InvalidCursor */
export async function listAccounts(
  readModel: ReadModel,
  ouId: string,
  query: QueryInput<typeof routes.listAccounts>['query'],
): Promise<AccountPage> {
  const { low, high } = scoreRange(query, everyLevel);
  const direction = query.sort === 'score' ? 'ascending' : 'descending';
  const from =
    query.cursor === undefined ? null : readRankCursor(query.cursor, ouId, direction, 'engagement');
  const within: Filter<AccountDocument> = {
    rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high + 1) },
    ...(query.q !== undefined && { search: containsText(query.q.toLowerCase()) }),
  };
  const up = direction === 'ascending';
  return withClassifiedErrors(async () => {
    const collection = readModel.collection(accounts);
    const [documents, total] = await Promise.all([
      collection
        .find(from ? { $and: [within, { rank: up ? { $gt: from } : { $lt: from } }] } : within)
        .sort({ rank: up ? 1 : -1 })
        .skip(from ? 0 : (query.page - 1) * query.limit)
        .limit(query.limit + 1)
        .toArray(),
      collection.countDocuments(within),
    ]);
    const shown = documents.slice(0, query.limit);
    const last = shown.at(-1);
    return {
      found: shown.map((document) => toAccount(document, ouId)),
      total,
      next_cursor:
        last && documents.length > query.limit ? rankCursor(last.rank, direction, 'engagement') : undefined,
    };
  });
}

/** Leads to request beyond the wanted ones, so that a section rarely has too few. */
const spareLeads = 64;

/**
 * The leads of an account with the highest scores. A database that cannot sort by an index would sort all leads of the account, so
 * the query is for a section with a few more leads than wanted, and for a longer section if that had too few.
 */
export async function highestLeads(
  readModel: ReadModel,
  { id, ou_id, scores, leads }: Pick<Account, 'id' | 'ou_id' | 'scores' | 'leads'>,
  wanted: number,
): Promise<routeDeclarations.AccountWithReasons['top_leads']> {
  const histogram = new Map([...scores].map(([bucket, counted]) => [bucket, counted.leads]));
  const end = everyScore.high + 1;
  let found: AccountLeadDocument[];
  for (let section = wanted + spareLeads; ; section *= 4) {
    const isAll = section >= leads;
    const start = isAll ? everyScore.low : stretchEnd(histogram, everyScore, end, section, 'descending');
    found = await withClassifiedErrors(() =>
      readModel
        .collection(accountLeads)
        .find({ rank: { $gte: rankEdge(id, start), $lt: rankEdge(id, end) } })
        .sort({ rank: -1 })
        .limit(wanted)
        .toArray(),
    );
    if (found.length === wanted || isAll) break;
  }
  const ids = found.map(({ _id }) => leadOfAccountLeadKey(_id));
  const named = await withClassifiedErrors(() =>
    loadLeads(
      readModel,
      ids.map((leadId) => leadKey(ou_id, leadId)),
    ),
  );
  return found.flatMap(({ _id, score }) => {
    const lead_id = leadOfAccountLeadKey(_id);
    const lead = named.get(lead_id);
    // A lead that was deleted leaves the account a moment later.
    return lead ? [{ lead_id, name: lead.name, score }] : [];
  });
}
