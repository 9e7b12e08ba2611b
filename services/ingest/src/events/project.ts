// From the recorded events to the stored ones: the same document whenever and however often it is made.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import { packJson, uuidToBinary } from '@lead-scoring/read-model';
import { placeId, storedEventId } from './keys.js';
import type { EventDocument, PlaceDocument } from './model.js';

/** Makes the documents of one record; `typeKeys` remembers the keys of event type names across records. */
export function storedEventsOf(
  { ou_id, lead_id, batch_id, received_at, source, aliases, events }: records.EventsIngested,
  at: { partition: number; offset: number },
  typeKeys: TypeKeys,
): { event: EventDocument; place: PlaceDocument }[] {
  const ou = uuidToBinary(ou_id);
  const batch = uuidToBinary(batch_id);
  const receivedAt = new Date(received_at);
  // Every record has the alias that named its lead; a record of before that rule would be shown without.
  const named = aliases[0] ?? { alias_kind: 'unknown', alias: '' };
  return events.map((event) => {
    const timestamp = new Date(event.timestamp);
    const _id = storedEventId(lead_id, event.id);
    const event_type_key = typeKeys.keyOf(event.event_type);
    return {
      event: {
        _id,
        ou,
        event_type: event.event_type,
        event_type_key,
        timestamp,
        received_at: event.received_at === undefined ? receivedAt : new Date(event.received_at),
        source,
        alias_kind: named.alias_kind,
        alias: named.alias,
        ...(event.event_id !== undefined && { event_id: event.event_id }),
        batch_id: event.batch_id === undefined ? batch : uuidToBinary(event.batch_id),
        metadata: event.metadata ? packJson(event.metadata) : '{}',
        ...at,
      },
      place: { _id: placeId(ou_id, timestamp.getTime(), _id), event_type_key, partition: at.partition },
    };
  });
}

/** Keys of event type names, computed once per name: few names make up nearly all events. */
export interface TypeKeys {
  keyOf(name: string): string;
}

export function createTypeKeys(): TypeKeys {
  const known = new Map<string, string>();
  return {
    keyOf: (name) => {
      let key = known.get(name);
      if (key === undefined) {
        key = eventTypeKey(name);
        if (known.size >= 10_000) known.clear();
        known.set(name, key);
      }
      return key;
    },
  };
}
