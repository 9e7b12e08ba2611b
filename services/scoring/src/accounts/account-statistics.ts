// Totals of an OU's accounts and of their leads, by the score of the account, without reading the accounts.
import {
  defineCollection,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';
import { rankEdge } from '../keys.js';
import { histogramId, packHistogram, unpackHistogram } from '../leads/documents.js';
import { countWithin, joinHistograms, type Histogram, type ScoreRange } from '../leads/histogram-fold.js';
import { accounts } from './documents.js';
import type { AccountStatistics } from './statistics-fold.js';

/** `_id` is histogramId. */
export interface AccountStatisticsDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  /** JSON text: bucket, accounts, bucket, accounts … in order of buckets. */
  accounts: string;
  /** The same of their leads. */
  leads: string;
}

export const accountStatistics = defineCollection<AccountStatisticsDocument>({
  name: 'account_histograms',
  indexes: [{ key: { ou: 1 } }],
});

export function toAccountStatistics({
  accounts,
  leads,
  offset,
}: AccountStatisticsDocument): AccountStatistics {
  return { accounts: unpackHistogram(accounts), leads: unpackHistogram(leads), offset };
}

export function toStatisticsDocument(
  { accounts, leads, offset }: AccountStatistics,
  ouId: string,
  partition: number,
): AccountStatisticsDocument {
  return {
    _id: histogramId(ouId, partition),
    ou: uuidToBinary(ouId),
    accounts: packHistogram(accounts),
    leads: packHistogram(leads),
    partition,
    offset,
  };
}

/** The histograms of all partitions. */
export async function loadAccountStatistics(
  readModel: ReadModel,
  ouId: string,
): Promise<Record<'accounts' | 'leads', Histogram>> {
  const found = await readModel
    .collection(accountStatistics)
    .find({ ou: uuidToBinary(ouId) })
    .toArray();
  return {
    accounts: joinHistograms(found.map((document) => unpackHistogram(document.accounts))),
    leads: joinHistograms(found.map((document) => unpackHistogram(document.leads))),
  };
}

/** The number of accounts with scores in a range; those of buckets at its bounds are counted. */
export function countAccounts(
  readModel: ReadModel,
  ouId: string,
  histogram: Histogram,
  range: ScoreRange,
): Promise<number> {
  return countedIn(histogram, range, (part) =>
    readModel.collection(accounts).countDocuments(rankedWithin(ouId, part)),
  );
}

/** The number of leads of accounts with scores in a range. */
export function countLeads(
  readModel: ReadModel,
  ouId: string,
  histogram: Histogram,
  range: ScoreRange,
): Promise<number> {
  return countedIn(histogram, range, async (part) => {
    const [sum] = await readModel
      .collection(accounts)
      .aggregate<{ leads: number }>([
        { $match: rankedWithin(ouId, part) },
        { $group: { _id: null, leads: { $sum: '$leads' } } },
      ])
      .toArray();
    return sum?.leads ?? 0;
  });
}

async function countedIn(
  histogram: Histogram,
  range: ScoreRange,
  countPart: (part: ScoreRange) => Promise<number>,
): Promise<number> {
  const { count, toCount } = countWithin(histogram, range);
  const counted = await Promise.all(toCount.map(countPart));
  return counted.reduce((sum, one) => sum + one, count);
}

function rankedWithin(ouId: string, { low, high }: ScoreRange) {
  return { rank: { $gte: rankEdge(ouId, low), $lt: rankEdge(ouId, high + 1) } };
}
