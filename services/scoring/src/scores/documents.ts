// Decisions on records of ingest.events that came late, as stored.
import { defineCollection } from '@lead-scoring/read-model';

/** A record of ingest.events that was sent again and is decided on; `_id` is lateDecisionId. */
export interface LateDecisionDocument {
  _id: string;
  partition: number;
}

export const lateDecisions = defineCollection<LateDecisionDocument>({ name: 'late_decisions', indexes: [] });

export function lateDecisionId(partition: number, offset: number): string {
  return `${String(partition)}:${String(offset)}`;
}
