// The leads that count in accounts, read in the order of the accounts' scores.
import { keysWithin, uuidBytes } from '@lead-scoring/read-model';
import { leadKey, leadOfKey } from '../keys.js';
import { skipWithin, type Histogram, type ScoreRange } from '../leads/histogram-fold.js';
import { loadLeads } from '../leads/stored-leads.js';
import {
  accountLeadKey,
  accountLeads,
  leadOfAccountLeadKey,
  type AccountDocument,
  type AccountLeadDocument,
} from './documents.js';
import type { Place, PlacedLead } from './place-model.js';
import { rankedAccounts, type AccountOrder, type WantedAccounts } from './ranked-accounts.js';

/** The order of an OU's leads by the scores of their accounts. */
export interface AccountLeadOrder extends AccountOrder {
  /** Leads by the score of their account. */
  readonly leadHistogram: Histogram;
}

/** Leads that are wanted of the order. */
export interface WantedPlaces {
  /** The place after which to begin; null: at the beginning. */
  readonly from: Place | null;
  readonly skip: number;
  readonly limit: number;
}

type RankedAccount = Pick<AccountDocument, '_id' | 'rank' | 'leads'>;

/** The wanted leads of one account. */
interface AccountPart extends WantedPlaces {
  readonly account: RankedAccount;
}

/** Accounts in one query: few where their leads are read too. */
const accountsAtOnce = { read: 50, skipped: 1_000 };

/**
 * Each account has a lead at least, so a page needs few accounts. A lead that moves to another account is in the list where its
 * own document says, or for a moment nowhere; a lead is never there twice for the same score.
 */
export async function leadsOfAccounts(
  order: AccountLeadOrder,
  whole: ScoreRange,
  { from, limit, ...wanted }: WantedPlaces,
): Promise<PlacedLead[]> {
  const found: PlacedLead[] = [];
  const begun = skipWithin(order.leadHistogram, whole, wanted.skip, order.direction);
  let { skip } = begun;
  let next: WantedAccounts['from'] = from && { rank: from.rank, isIncluded: true };
  for (;;) {
    const atOnce = skip > 0 ? accountsAtOnce.skipped : accountsAtOnce.read;
    const wantedAccounts = { range: begun.range, from: next, skip: 0, limit: atOnce };
    const ahead = await rankedAccounts(order, wantedAccounts, ['rank', 'leads']);
    const { parts, last, skip: left } = partsOf(ahead, { from, skip, limit: limit - found.length });
    skip = left;
    for (const ofAccount of await Promise.all(parts.map((part) => leadsOf(order, part))))
      found.push(...ofAccount.slice(0, limit - found.length));
    if (!last || found.length === limit || (last === ahead.at(-1) && ahead.length < atOnce)) return found;
    next = { rank: last.rank, isIncluded: false };
  }
}

/** The first accounts that have the wanted leads, by their counts. */
function partsOf(
  ahead: readonly RankedAccount[],
  { from, skip: before, limit }: WantedPlaces,
): { parts: AccountPart[]; last: RankedAccount | undefined; skip: number } {
  const parts: AccountPart[] = [];
  let [skip, missing] = [before, limit];
  let last: RankedAccount | undefined;
  for (const account of ahead) {
    if (missing <= 0) break;
    last = account;
    if (skip >= account.leads) {
      skip -= account.leads;
      continue;
    }
    const ofCursor = from?.account_id === leadOfKey(account._id) ? from : null;
    parts.push({ account, from: ofCursor, skip, limit });
    missing -= account.leads - skip;
    skip = 0;
  }
  return { parts, last, skip };
}

async function leadsOf(
  { readModel, ouId, direction }: AccountOrder,
  { account, from, skip, limit }: AccountPart,
): Promise<PlacedLead[]> {
  const accountId = leadOfKey(account._id);
  const up = direction === 'ascending';
  const last = from && accountLeadKey(accountId, from.lead_id);
  const counted = await readModel
    .collection(accountLeads)
    .find({
      $and: [
        { _id: keysWithin([accountId], uuidBytes) },
        ...(last ? [{ _id: up ? { $gt: last } : { $lt: last } }] : []),
      ],
    })
    .project<Pick<AccountLeadDocument, '_id'>>({ _id: 1 })
    .sort({ _id: up ? 1 : -1 })
    .skip(skip)
    .limit(limit)
    .toArray();
  const ids = counted.map(({ _id }) => leadOfAccountLeadKey(_id));
  const stored = await loadLeads(
    readModel,
    ids.map((leadId) => leadKey(ouId, leadId)),
  );
  return ids.flatMap((lead_id) => {
    const lead = stored.get(lead_id);
    const place = { rank: account.rank, account_id: accountId, lead_id };
    return lead?.account?.account_id === accountId ? [{ lead, place }] : [];
  });
}
