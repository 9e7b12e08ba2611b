// What happens to leads in ingest, and what scoring decides because of it.
import type { records } from '@lead-scoring/contracts';
import type { DecisionSource } from './source-model.js';

export type LeadCause = (
  | { type: 'EventsIngested'; payload: records.EventsIngested }
  | { type: 'LeadDeleted'; payload: records.LeadDeleted }
) & {
  /** Where it is on ingest.events. */
  source?: DecisionSource;
};

export type LeadEvent =
  { type: 'LeadScored'; payload: records.LeadScored } | { type: 'LeadRemoved'; payload: records.LeadRemoved };
