// Notification's own copy of the explanations: the names and scores of leads, the rules that gave them points, and the levels.
import { projectorNames } from '@lead-scoring/contracts';
import { explanationProjection, toldFields } from '@lead-scoring/explanations';

export const [explanationsName] = projectorNames.notification;

/** @param cachedLeads leads that each partition keeps in memory */
export function notificationExplanations({ cachedLeads }: { cachedLeads: number }) {
  return explanationProjection({
    name: explanationsName,
    cachedLeads,
    keptFields: toldFields,
    batching: {
      maxRecordsPerBatch: 2_000,
      maxBytesPerBatch: 1024 * 1024,
      // Firing adds up decisions as they pass through its partition: only what lies before a start is read from here.
      everyMs: 1_000,
    },
  });
}
