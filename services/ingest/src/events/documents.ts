// The stored form of the event store: records by lead, events by second, the ids that identify repeats, and deletions of leads.
import type { records } from '@lead-scoring/contracts';
import {
  defineCollection,
  readJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';

/** A record of the log, unchanged: events of a lead from one batch. `_id` is recordId. */
export interface EventRecordDocument {
  _id: Binary;
  ou: Binary;
  /** The EventsIngested as JSON: storedJson. */
  json: Binary;
  partition: number;
}

/** The events of an OU in one second, from one block of a partition's log: see seconds.ts. `_id` is secondKey. */
export interface EventSecondDocument extends GuardedDocument {
  _id: Binary;
  count: number;
  /** The eventTypeKeys of the events, and the number of events of each. */
  types: string[];
  counts: number[];
  /** The place of each event: see seconds.ts. */
  events: Binary;
}

/** An event whose id may come again. `_id` is knownEventId. */
export interface KnownEventDocument {
  _id: Binary;
  /** The offset of the record that holds the event; absent when the event was counted under another lead. */
  offset?: number;
  partition: number;
}

/** The last deletion of a lead, by which a repeated deletion is told from the deletion of a new lead. `_id` is the lead's id. */
export interface DeletionDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  deletion_id: string;
}

export const eventRecords = defineCollection<EventRecordDocument>({ name: 'event_records', indexes: [] });
export const eventSeconds = defineCollection<EventSecondDocument>({ name: 'event_seconds', indexes: [] });
export const knownEvents = defineCollection<KnownEventDocument>({ name: 'known_events', indexes: [] });
export const deletions = defineCollection<DeletionDocument>({ name: 'lead_deletions', indexes: [] });

export function payloadOf({ json }: Pick<EventRecordDocument, 'json'>): records.EventsIngested {
  return readJson(json) as unknown as records.EventsIngested;
}

export function deletionDocument(
  { ou_id, lead_id, deletion_id }: records.LeadDeleted,
  at: { partition: number; offset: number },
): DeletionDocument {
  return { _id: uuidToBinary(lead_id), ou: uuidToBinary(ou_id), deletion_id, ...at };
}
