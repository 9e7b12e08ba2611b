// How many events of a batch were dropped as repeats: one document for each record, which says it of one partition.
import type { records } from '@lead-scoring/contracts';
import { defineCollection } from '@lead-scoring/read-model';

export interface DroppedRepeatsDocument {
  /** See `documentId`. */
  _id: string;
  count: number;
  partition: number;
}

export const droppedRepeats = defineCollection<DroppedRepeatsDocument>({
  name: 'dropped_repeats',
  indexes: [{ key: { partition: 1 } }],
});

export function repeatsDocument(
  { ou_id, batch_id, count }: records.RepeatsDropped,
  { partition, offset }: { partition: number; offset: number },
): DroppedRepeatsDocument {
  return { _id: `${ou_id}${batch_id}${String(partition)}:${String(offset)}`, count, partition };
}

/** The ids of all documents of a batch of an OU. */
export function repeatIdsOf(ouId: string, batchId: string): { $gte: string; $lt: string } {
  return { $gte: `${ouId}${batchId}`, $lt: `${ouId}${batchId}g` };
}
