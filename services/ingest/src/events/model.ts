// The event store as it is kept for reading: the events by lead, and their places in the order of time.
import type { Binary } from '@lead-scoring/read-model';
import { defineCollection } from '@lead-scoring/read-model';

/** `_id` is storedEventId: lead and event. */
export interface EventDocument {
  _id: Binary;
  ou: Binary;
  event_type: string;
  event_type_key: string;
  timestamp: Date;
  received_at: Date;
  source: 'ingest' | 'import';
  alias_kind: string;
  alias: string;
  /** The sender's own id. */
  event_id?: string;
  batch_id: Binary;
  /** JSON text. */
  metadata: string;
  partition: number;
  offset: number;
}

/** `_id` is placeId; a small document so that the newest events of an OU are a few index entries away. */
export interface PlaceDocument {
  _id: Binary;
  event_type_key: string;
  partition: number;
}

export const events = defineCollection<EventDocument>({ name: 'events', indexes: [] });
export const places = defineCollection<PlaceDocument>({ name: 'event_places', indexes: [] });
