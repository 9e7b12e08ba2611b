// From the recorded events to the stored ones: the same document whenever and however often it is made.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import { packJson, uuidToBinary, type Binary } from '@lead-scoring/read-model';
import { keysOfLead } from './keys.js';
import type { EventDocument, PlaceDocument } from './model.js';

/** Makes the documents of one record; `memory` is kept from record to record. */
export function storedEventsOf(
  { ou_id, lead_id, batch_id, received_at, source, aliases, events }: records.EventsIngested,
  at: { partition: number; offset: number },
  memory: ProjectionMemory,
): { event: EventDocument; place: PlaceDocument }[] {
  const ou = memory.binaryOf(ou_id);
  const batch = memory.binaryOf(batch_id);
  const receivedAt = new Date(received_at);
  // Every record has the alias that named its lead; a record of before that rule would be shown without.
  const named = aliases[0] ?? { alias_kind: 'unknown', alias: '' };
  const keysOf = keysOfLead(ou_id, lead_id);
  return events.map((event) => {
    const timestamp = new Date(event.timestamp);
    const keys = keysOf(event.id, timestamp.getTime());
    const event_type_key = memory.typeKeyOf(event.event_type);
    // Every event passes here: no spreads.
    const document: EventDocument = {
      _id: keys.event,
      ou,
      event_type: event.event_type,
      event_type_key,
      timestamp,
      received_at: event.received_at === undefined ? receivedAt : new Date(event.received_at),
      source,
      alias_kind: named.alias_kind,
      alias: named.alias,
      batch_id: event.batch_id === undefined ? batch : memory.binaryOf(event.batch_id),
      metadata: event.metadata ? packJson(event.metadata) : '{}',
      partition: at.partition,
      offset: at.offset,
    };
    if (event.event_id !== undefined) document.event_id = event.event_id;
    return { event: document, place: { _id: keys.place, event_type_key, partition: at.partition } };
  });
}

/** What recurs from event to event, computed once: few type names, OUs and batches are under way at a time. */
export interface ProjectionMemory {
  typeKeyOf(eventType: string): string;
  binaryOf(uuid: string): Binary;
}

const maximumRemembered = 5_000;

export function createProjectionMemory(): ProjectionMemory {
  return { typeKeyOf: remembering(eventTypeKey), binaryOf: remembering(uuidToBinary) };
}

function remembering<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = compute(text);
      if (known.size >= maximumRemembered) known.clear();
      known.set(text, value);
    }
    return value;
  };
}
