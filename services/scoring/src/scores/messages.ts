// What happens to leads in ingest, and what scoring decides because of it.
import { records } from '@lead-scoring/contracts';
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

/** How each event of a lead is declared on the log. */
export const leadRecords = { LeadScored: records.leadScored, LeadRemoved: records.leadRemoved } as const;
