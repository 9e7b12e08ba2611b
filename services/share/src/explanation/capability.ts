// Share's own copy of the explanations, which its links show.
import { projectorNames } from '@lead-scoring/contracts';
import { explanationProjection } from '@lead-scoring/explanations';

export const [explanationsName] = projectorNames.share;

export interface ShareExplanationsOptions {
  /** Leads that each partition keeps in memory. */
  cachedLeads: number;
}

export function shareExplanations({ cachedLeads }: ShareExplanationsOptions) {
  return explanationProjection({
    name: explanationsName,
    cachedLeads,
    keepsAccounts: true,
    // The same limits as scoring: decisions are inserted together, so that large batches make folding cheap.
    batching: { maxRecordsPerBatch: 16_000, maxBytesPerBatch: 8 * 1024 * 1024 },
  });
}
