// The event store as it is kept for reading: what was recorded by lead, which events happened when, the ids by which a repeat
// is known, and which leads were deleted.
import type { records } from '@lead-scoring/contracts';
import {
  defineCollection,
  readJson,
  uuidToBinary,
  type Binary,
  type GuardedDocument,
} from '@lead-scoring/read-model';

/** A record of the log as it is there, the events of a lead that were taken together. `_id` is recordId. */
export interface EventRecordDocument {
  _id: Binary;
  ou: Binary;
  /** The EventsIngested as JSON: storedJson. */
  json: Binary;
  partition: number;
}

/** Events of an OU that happened in one second, of one part of a partition's log: seconds.ts. `_id` is secondKey. */
export interface EventSecondDocument extends GuardedDocument {
  _id: Binary;
  count: number;
  /** eventTypeKeys that occur, and how often each. */
  types: string[];
  counts: number[];
  /** Where each event is. */
  events: Binary;
}

/** `_id` is knownEventId; only of events whose id may come again. */
export interface KnownEventDocument {
  _id: Binary;
  /** Of the record that holds the event; absent where the event was counted under another lead. */
  offset?: number;
  partition: number;
}

/** The last deletion of a lead, under the lead's id: tells a deletion that comes again from one of a new lead. */
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
