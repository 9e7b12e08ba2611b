// Statistics of an OU's leads: their number, their scores and their kinds of alias, without reading the leads.
import { uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { histograms, unpackHistogram } from './documents.js';
import { joinHistograms, type Histogram } from './histogram-fold.js';

export interface Statistics {
  histogram: Histogram;
  /** Of profile scores other than 0. */
  profileHistogram: Histogram;
  leads: number;
  aliasKinds: string[];
}

export async function loadStatistics(readModel: ReadModel, ouId: string): Promise<Statistics> {
  const found = await readModel
    .collection(histograms)
    .find({ ou: uuidToBinary(ouId) })
    .toArray();
  return {
    histogram: joinHistograms(found.map(({ buckets }) => unpackHistogram(buckets))),
    profileHistogram: joinHistograms(found.map(({ profile_buckets }) => unpackHistogram(profile_buckets))),
    leads: found.reduce((sum, document) => sum + document.leads, 0),
    aliasKinds: found.flatMap(({ alias_kinds }) => alias_kinds),
  };
}
