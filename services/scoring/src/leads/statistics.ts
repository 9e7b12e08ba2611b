// What is known of an OU's leads without looking at them: how many there are, which scores they have, and which kinds of alias.
import { uuidToBinary, type ReadModel } from '@lead-scoring/read-model';
import { histograms, unpackHistogram } from './documents.js';
import { joinHistograms, type Histogram } from './histogram-fold.js';

export interface Statistics {
  histogram: Histogram;
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
    leads: found.reduce((sum, document) => sum + document.leads, 0),
    aliasKinds: found.flatMap(({ alias_kinds }) => alias_kinds),
  };
}
