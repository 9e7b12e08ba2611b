// Share's own copy of the explanations, which its links show.
import { projectorNames } from '@lead-scoring/contracts';
import { explanationProjection } from '@lead-scoring/explanations';
import { beginRebuild, type EndOf } from '../rebuilds.js';

export const [explanationsName] = projectorNames.share;

export interface ShareExplanationsOptions {
  /** Leads that each partition keeps in memory. */
  cachedLeads: number;
  /** Where scoring's topic ends, to tell when a rebuilt partition is whole again. */
  endOf: EndOf;
}

export function shareExplanations({ cachedLeads, endOf }: ShareExplanationsOptions) {
  return explanationProjection({
    name: explanationsName,
    cachedLeads,
    // As scoring has it: decisions are inserted together, so large batches are what makes folding cheap.
    batching: { maxRecordsPerBatch: 16_000, maxBytesPerBatch: 8 * 1024 * 1024 },
    beforeReset: ({ readModel, partition }) =>
      beginRebuild(readModel, { name: explanationsName, partition, topic: 'scoring.events' }, endOf),
  });
}
