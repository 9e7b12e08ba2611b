// What is left of a lead's state when the lead is deleted, and what of the recorded is of the lead that was: pure. Scoring
// and ingest each tell of a deletion in their own order, so the records of each topic are parted at that topic's own place.
import type { records } from '@lead-scoring/contracts';
import type { Source } from './messages.js';
import type { LeadState } from './state.js';

/** Whether what was recorded because of a record is forgotten with a deletion: an earlier one of the same topic told of it. */
export function isEnded(source: Source, end: Source): boolean {
  return source.topic === end.topic && source.offset < end.offset;
}

/** The lead without what triggers remember of it because of the topic that tells of its deletion. */
export function forgetLead(
  state: LeadState,
  { source: { topic }, deletion_id, linked_to }: records.LeadForgotten,
): LeadState {
  return {
    ...state,
    memories: new Map([...state.memories].filter(([, memory]) => memory.topic !== topic)),
    ...(topic === 'ingest.events' ? { matches: new Map() } : { gains: new Map() }),
    // Of a lead that was linked, scoring may have nothing to remove: nothing is waited for.
    deletions: { ...state.deletions, [topic]: linked_to === undefined ? deletion_id : null },
  };
}

/**
 * Whether the explanation of the lead's score is of the lead that ingest tells of. From when ingest has told of a deletion
 * until scoring has, it is of the lead that was deleted.
 */
export function isExplained({ deletions }: LeadState): boolean {
  const told = deletions['ingest.events'];
  return told === null || told === deletions['scoring.events'];
}
