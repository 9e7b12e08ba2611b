// The event store as it is kept for reading: what was recorded by lead, the events' places in the order of time, and
// the ids by which a repeat is known.
import type { records } from '@lead-scoring/contracts';
import { defineCollection, readJson, type Binary } from '@lead-scoring/read-model';

/** A record of the log as it is there, the events of a lead that were taken together. `_id` is recordId. */
export interface EventRecordDocument {
  _id: Binary;
  ou: Binary;
  /** The EventsIngested as JSON: storedJson. */
  json: Binary;
  partition: number;
}

/** `_id` is placeId; a small document so that the newest events of an OU are a few index entries away. */
export interface PlaceDocument {
  _id: Binary;
  event_type_key: string;
  partition: number;
}

/** `_id` is knownEventId; only of events whose id may come again. */
export interface KnownEventDocument {
  _id: Binary;
  partition: number;
}

export const eventRecords = defineCollection<EventRecordDocument>({ name: 'event_records', indexes: [] });
export const places = defineCollection<PlaceDocument>({ name: 'event_places', indexes: [] });
export const knownEvents = defineCollection<KnownEventDocument>({ name: 'known_events', indexes: [] });

export function payloadOf({ json }: Pick<EventRecordDocument, 'json'>): records.EventsIngested {
  return readJson(json) as unknown as records.EventsIngested;
}
