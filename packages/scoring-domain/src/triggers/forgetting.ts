// Separates a deleted lead from a new lead with the same id. Pure. Scoring and ingest each report a deletion on their own topic,
// at different times, so a deletion has one offset per topic: earlier records of the topic belong to the deleted lead.
import type { records } from '@lead-scoring/contracts';
import type { Source } from './messages.js';
import type { LeadState } from './lead-state.js';

/** Whether the record at `source` belongs to the lead whose deletion is reported at `end`: same topic, smaller offset. */
export function isEnded(source: Source, end: Source): boolean {
  return source.topic === end.topic && source.offset < end.offset;
}

/** The lead's state without the memory that came from the topic that reports the deletion. */
export function forgetLead(
  state: LeadState,
  { source: { topic }, deletion_id, linked_to }: records.LeadForgotten,
): LeadState {
  return {
    ...state,
    memories: new Map([...state.memories].filter(([, memory]) => memory.topic !== topic)),
    ...(topic === 'ingest.events' ? { matches: new Map() } : { gains: new Map() }),
    // Scoring may never have known a lead that was linked, and then reports no deletion: null, so that none is waited for.
    deletions: { ...state.deletions, [topic]: linked_to === undefined ? deletion_id : null },
  };
}

/**
 * Whether the explanation of the score is of the same lead as ingest's records. Between ingest's report of a deletion and
 * scoring's report of the same deletion, the explanation is of the deleted lead.
 */
export function isExplained({ deletions }: LeadState): boolean {
  const told = deletions['ingest.events'];
  return told === null || told === deletions['scoring.events'];
}
