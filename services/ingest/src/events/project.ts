// From the recorded events to the stored ones: the same documents whenever and however often they are made.
import { eventTypeKey, isNameBasedId, type records } from '@lead-scoring/contracts';
import { storedJson, uuidToBinary, type Binary } from '@lead-scoring/read-model';
import { keysOfRecord, knownEventId, readRecordOffset } from './keys.js';
import { payloadOf, type EventRecordDocument, type KnownEventDocument, type PlaceDocument } from './model.js';

/** What the event store holds of some records. */
export interface StoredEvents {
  records: EventRecordDocument[];
  places: PlaceDocument[];
  known: KnownEventDocument[];
}

/**
 * Adds the documents of one record.
 * @param json the record's own text
 * @param memory kept from record to record
 */
export function addStoredEvents(
  to: StoredEvents,
  { ou_id, lead_id, events }: records.EventsIngested,
  json: Buffer,
  { partition, offset }: { partition: number; offset: number },
  memory: ProjectionMemory,
): void {
  const keys = keysOfRecord(ou_id, lead_id, offset);
  to.records.push({ _id: keys.record, ou: memory.binaryOf(ou_id), json: storedJson(json), partition });
  events.forEach(({ id, event_type, timestamp }, index) => {
    to.places.push({
      _id: keys.placeOf(Date.parse(timestamp), index),
      event_type_key: memory.typeKeyOf(event_type),
      partition,
    });
    if (isNameBasedId(id)) to.known.push({ _id: knownEventId(lead_id, id), partition });
  });
}

/** The ids of the places of a stored record's events. */
export function placeIdsOf(document: Pick<EventRecordDocument, '_id' | 'json'>): Binary[] {
  const { ou_id, lead_id, events } = payloadOf(document);
  const { placeOf } = keysOfRecord(ou_id, lead_id, readRecordOffset(document._id));
  return events.map(({ timestamp }, index) => placeOf(Date.parse(timestamp), index));
}

/** What recurs from event to event, computed once: few type names and OUs are under way at a time. */
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
