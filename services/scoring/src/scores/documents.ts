// The documents of late decisions.
import { defineCollection } from '@lead-scoring/read-model';

/** A dead letter of ingest.events that was sent again and decided; `_id` is lateDecisionId. */
export interface LateDecisionDocument {
  _id: string;
  partition: number;
}

export const lateDecisions = defineCollection<LateDecisionDocument>({ name: 'late_decisions', indexes: [] });

export function lateDecisionId(partition: number, offset: number): string {
  return `${String(partition)}:${String(offset)}`;
}
