// Reads stored accounts, and the leads of an account with the highest scores.
import { records } from '@lead-scoring/contracts';
import { keysWithin, uuidBytes, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import { ProblemError } from '@lead-scoring/service';
import { leadKey, leadOfKey, rankEdge } from '../keys.js';
import { leads, type LeadDocument } from '../leads/documents.js';
import { everyScore } from '../leads/score-range.js';
import { readInStretches } from '../leads/score-stretches.js';
import { loadLeads } from '../leads/stored-leads.js';
import {
  accountLeadKey,
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

/** Stored leads of an account in the order of their ids; at most as many as a step of a merge moves. */
export async function leadsAfter(
  readModel: ReadModel,
  accountId: string,
  after: string | null,
  limit: number = records.maximumMovedLeads,
): Promise<string[]> {
  const all = keysWithin([accountId], uuidBytes);
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(accountLeads)
      .find({ _id: after === null ? all : { $gt: accountLeadKey(accountId, after), $lte: all.$lte } })
      .project<Pick<AccountLeadDocument, '_id'>>({ _id: 1 })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray(),
  );
  return found.map(({ _id }) => leadOfAccountLeadKey(_id));
}

/** The deals that leads of an account have named, counted some leads at a time. */
export async function countDeals(
  readModel: ReadModel,
  { id, ou_id }: Pick<Account, 'id' | 'ou_id'>,
): Promise<number> {
  const named = new Set<string>();
  for (let after: string | null = null; ;) {
    const ids: string[] = await leadsAfter(readModel, id, after);
    const found = await withClassifiedErrors(() =>
      readModel
        .collection(leads)
        .find({ _id: { $in: ids.map((leadId) => leadKey(ou_id, leadId)) }, deals: { $exists: true } })
        .project<Pick<LeadDocument, 'deals'>>({ deals: 1 })
        .toArray(),
    );
    for (const { deals = [] } of found) for (const deal of deals) named.add(deal);
    after = ids.at(-1) ?? null;
    if (ids.length < records.maximumMovedLeads) return named.size;
  }
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

export interface HighLead {
  readonly lead_id: string;
  readonly lead: LeadDocument;
  /** What counts of it in the account. */
  readonly score: number;
}

/** The leads of an account with the highest scores. */
export async function highestLeads(
  readModel: ReadModel,
  { id, ou_id, scores }: Pick<Account, 'id' | 'ou_id' | 'scores'>,
  limit: number,
): Promise<HighLead[]> {
  const histogram = new Map([...scores].map(([bucket, counted]) => [bucket, counted.leads]));
  const wanted = {
    histogram,
    range: everyScore,
    direction: 'descending',
    start: null,
    skip: 0,
    limit,
  } as const;
  const found = await withClassifiedErrors(() =>
    readInStretches(wanted, ({ low, high }) =>
      readModel
        .collection(accountLeads)
        .find({ rank: { $gte: rankEdge(id, low), $lt: rankEdge(id, high) } })
        .sort({ rank: -1 })
        .limit(limit)
        .toArray(),
    ),
  );
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
    return lead ? [{ lead_id, lead, score }] : [];
  });
}
