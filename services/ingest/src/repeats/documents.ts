// The stored form of dropped repeats and refused aliases: one document for each record on the log, with the counts of one batch in
// one partition, and counters of each OU by time.
import type { records } from '@lead-scoring/contracts';
import { defineCollection, type Binary, type GuardedDocument } from '@lead-scoring/read-model';

export interface DroppedRepeatsDocument {
  /** See `documentId`. */
  _id: string;
  count: number;
  /** The number of repeats that differ from the stored event; absent for none. */
  differing?: number;
  partition: number;
}

export const droppedRepeats = defineCollection<DroppedRepeatsDocument>({
  name: 'dropped_repeats',
  indexes: [{ key: { partition: 1 } }],
});

export interface RefusedAliasesDocument {
  /** See `documentId`, as for dropped repeats. */
  _id: string;
  count: number;
  partition: number;
}

export const refusedAliases = defineCollection<RefusedAliasesDocument>({
  name: 'refused_aliases',
  indexes: [{ key: { partition: 1 } }],
});

/** What came of an OU in a partition, of all time or in a quarter of an hour; `_id` is countId. */
export interface RepeatCountDocument extends GuardedDocument {
  _id: Binary;
  repeats: number;
  differing: number;
  /** Aliases that were not linked. */
  refused: number;
}

export const repeatCounts = defineCollection<RepeatCountDocument>({ name: 'repeat_counts', indexes: [] });

export function repeatsDocument(
  { ou_id, batch_id, count, differing }: records.RepeatsDropped,
  at: Place,
): DroppedRepeatsDocument {
  const _id = documentId(ou_id, batch_id, at);
  return { _id, count, ...(differing !== undefined && { differing }), partition: at.partition };
}

export function refusedDocument(
  { ou_id, batch_id, count }: records.AliasesRefused,
  at: Place,
): RefusedAliasesDocument {
  return { _id: documentId(ou_id, batch_id, at), count, partition: at.partition };
}

interface Place {
  partition: number;
  offset: number;
}

function documentId(ouId: string, batchId: string, { partition, offset }: Place): string {
  return `${ouId}${batchId}${String(partition)}:${String(offset)}`;
}

/** The ids of all documents of a batch of an OU. */
export function repeatIdsOf(ouId: string, batchId: string): { $gte: string; $lt: string } {
  return { $gte: `${ouId}${batchId}`, $lt: `${ouId}${batchId}g` };
}
