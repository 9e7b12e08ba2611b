// The stored form of the counts by time: one document for each OU, level, period and partition.
import { defineCollection, type Binary, type GuardedDocument } from '@lead-scoring/read-model';

export interface EventPeriodDocument extends GuardedDocument {
  /** See `periodId`. */
  _id: Binary;
  /** The eventTypeKeys of the events. */
  types: string[];
  /** The number of events of each type in each cell: see period-counts.ts. */
  counts: Binary;
  /** The period had more types than are counted, and no events are counted in it. */
  has_too_many_types?: true;
}

export const eventPeriods = defineCollection<EventPeriodDocument>({ name: 'event_periods', indexes: [] });

/** The version of the service from which on the counts are complete. */
export const versionWithPeriods = 2;
