// The events of ingest that scoring decides on, and scoring's events of leads.
import { records } from '@lead-scoring/contracts';
import type { ContributionEvent } from '../accounts/messages.js';
import type { DecisionSource } from './source-model.js';

export type LeadCause = (
  | { type: 'EventsIngested'; payload: records.EventsIngested }
  | { type: 'LeadMetadataPatched'; payload: records.LeadMetadataPatched }
  | { type: 'LeadDeleted'; payload: records.LeadDeleted }
) & {
  /** The record's place on ingest.events. */
  source?: DecisionSource;
};

/** What a record of ingest comes to. */
export type CausedEvent =
  { type: 'LeadScored'; payload: records.LeadScored } | { type: 'LeadRemoved'; payload: records.LeadRemoved };

export type LeadEvent = CausedEvent | { type: 'ScoreAdjusted'; payload: records.ScoreAdjusted };

/** What the score policy appends: a crossing of levels follows its decision, and contributions to accounts come last. */
export type ScoreEvent =
  | LeadEvent
  | { type: 'LeadLevelChanged'; payload: records.LeadLevelChanged }
  | ContributionEvent
  | { type: 'DealsIgnored'; payload: records.DealsIgnored };

/** The record declarations of scoring's events of leads, from which leads are folded. */
export const leadRecords = {
  LeadScored: records.leadScored,
  ScoreAdjusted: records.scoreAdjusted,
  LeadRemoved: records.leadRemoved,
  LeadContributed: records.leadContributed,
} as const;

export const scoreRecords = {
  ...leadRecords,
  LeadLevelChanged: records.leadLevelChanged,
  DealsIgnored: records.dealsIgnored,
} as const;
