// Statistics of an OU's leads: their number, their scores and their kinds of alias, without reading the leads.
import type { LeadScoreType } from '@lead-scoring/contracts';
import { uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { histograms, unpackHistogram } from './documents.js';
import { joinHistograms, type Histogram } from './histogram-fold.js';

export interface Statistics {
  /** Of each score; of profile and deal scores without those of 0. */
  histograms: Readonly<Record<LeadScoreType, Histogram>>;
  leads: number;
  /** Partitions in which there are leads. */
  partitions: number[];
  aliasKinds: string[];
}

export async function loadStatistics(readModel: ReadModel, ouId: string): Promise<Statistics> {
  const found = await readModel
    .collection(histograms)
    .find({ ou: uuidToBinary(ouId) })
    .toArray();
  return {
    histograms: {
      engagement: joinHistograms(found.map(({ buckets }) => unpackHistogram(buckets))),
      profile: joinHistograms(found.map(({ profile_buckets }) => unpackHistogram(profile_buckets))),
      deal: joinHistograms(found.map(({ deal_buckets }) => unpackHistogram(deal_buckets))),
    },
    leads: found.reduce((sum, document) => sum + document.leads, 0),
    partitions: found.filter(({ leads }) => leads > 0).map(({ partition }) => partition),
    aliasKinds: found.flatMap(({ alias_kinds }) => alias_kinds),
  };
}
