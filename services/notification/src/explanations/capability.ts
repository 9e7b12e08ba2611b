// Notification's own copy of the explanations: names and scores of leads, the rules that gave them points, and levels.
import { projectorNames } from '@lead-scoring/contracts';
import { explanationProjection, toldFields } from '@lead-scoring/explanations';

export const [explanationsName] = projectorNames.notification;

/** @param cachedLeads maximum number of leads that each partition keeps in memory */
export function notificationExplanations({ cachedLeads }: { cachedLeads: number }) {
  return explanationProjection({
    name: explanationsName,
    cachedLeads,
    keptFields: toldFields,
    keepsActivity: true,
    batching: {
      maxRecordsPerBatch: 2_000,
      maxBytesPerBatch: 1024 * 1024,
      // Firing adds up the decisions that pass through its partition, and reads only earlier decisions from here.
      everyMs: 1_000,
    },
  });
}
