// The ids under which events are stored. They are ordered keys, because an engine serves a range of ids in order
// from the primary index while a sort by any other field may fetch all matches first.
import {
  Binary,
  bytesOf,
  keysWithin,
  offsetBytes,
  orderedKey,
  readOffset,
  readUuid,
  uuidBytes,
  writeOffset,
  writeUuid,
  type KeyRange,
} from '@lead-scoring/read-model';

const timeBytes = 8;
const indexBytes = 2;
const recordBytes = uuidBytes + offsetBytes;
const recordAt = uuidBytes + timeBytes;
const placeBytes = recordAt + recordBytes + indexBytes;
/** Added to a time so that it is never negative: event times go back to the year 0. */
const timeBias = 2 ** 48;

/** A record of events under its lead: lead, offset in the partition of the lead. */
export function recordId(leadId: string, offset: number): Binary {
  return orderedKey([leadId], offset);
}

/** The offset in a recordId. */
export function readRecordOffset(id: Binary): number {
  return readOffset(bytesOf(id), uuidBytes);
}

/** The ids of all records of a lead. */
export function recordIdsOf(leadId: string): KeyRange {
  return keysWithin([leadId], offsetBytes);
}

/** An event within its lead: a repeat of the event has the same key. */
export function knownEventId(leadId: string, eventId: string): Binary {
  return orderedKey([leadId, eventId]);
}

export function readKnownEventId(id: Binary): { lead_id: string; id: string } {
  const bytes = bytesOf(id);
  return { lead_id: readUuid(bytes, 0), id: readUuid(bytes, uuidBytes) };
}

/**
 * The keys of a record and of the places of its events in their OU's order of time: OU, time, record, index in the
 * record. What they share is written once.
 */
export function keysOfRecord(
  ouId: string,
  leadId: string,
  offset: number,
): { record: Binary; placeOf: (timestampMs: number, index: number) => Binary } {
  const shared = Buffer.allocUnsafe(uuidBytes + recordBytes);
  writeUuid(shared, 0, ouId);
  writeUuid(shared, uuidBytes, leadId);
  writeOffset(shared, 2 * uuidBytes, offset);
  return {
    // Nobody writes into a key, so the bytes may be shared.
    record: new Binary(shared.subarray(uuidBytes), 0),
    placeOf: (timestampMs, index) => {
      const place = Buffer.allocUnsafe(placeBytes);
      shared.copy(place, 0, 0, uuidBytes);
      writeTime(place, uuidBytes, timestampMs);
      shared.copy(place, recordAt, uuidBytes);
      place.writeUInt16BE(index, recordAt + recordBytes);
      return new Binary(place, 0);
    },
  };
}

/** The places of an OU from one time (inclusive) to another (exclusive), in milliseconds. */
export function placesBetween(
  ouId: string,
  fromMs: number | null,
  toMs: number | null,
): { $gte: Binary; $lt: Binary } {
  const edge = (timeMs: number | null, open: number) => {
    const bytes = Buffer.alloc(placeBytes, open);
    writeUuid(bytes, 0, ouId);
    if (timeMs !== null) {
      bytes.fill(0, uuidBytes);
      writeTime(bytes, uuidBytes, timeMs);
    }
    return new Binary(bytes, 0);
  };
  return { $gte: edge(fromMs, 0), $lt: edge(toMs, 0xff) };
}

/** The record that holds the event of a place, and the event's index in it. */
export function eventAtPlace(place: Binary): { record: Binary; index: number } {
  const bytes = bytesOf(place);
  const end = recordAt + recordBytes;
  return {
    record: new Binary(Buffer.from(bytes.subarray(recordAt, end)), 0),
    index: bytes.readUInt16BE(end),
  };
}

/** Whether a place that came in from outside is one of the OU. */
export function isPlaceOf(ouId: string, place: Binary): boolean {
  const bytes = bytesOf(place);
  return bytes.length === placeBytes && readUuid(bytes, 0) === ouId.toLowerCase();
}

function writeTime(bytes: Buffer, at: number, timeMs: number): void {
  writeOffset(bytes, at, timeMs + timeBias);
}
