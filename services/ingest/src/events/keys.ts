// The ids under which events are stored. They are ordered keys, because an engine serves a range of ids in order
// from the primary index while a sort by any other field may fetch all matches first.
import { Binary } from '@lead-scoring/read-model';

const uuidBytes = 16;
const timeBytes = 8;
const offsetBytes = 8;
const indexBytes = 2;
const recordBytes = uuidBytes + offsetBytes;
const recordAt = uuidBytes + timeBytes;
const placeBytes = recordAt + recordBytes + indexBytes;
/** Added to a time so that it is never negative: event times go back to the year 0. */
const timeBias = 2 ** 48;

interface Range {
  $gte: Binary;
  $lte: Binary;
}

/** A record of events under its lead: lead, offset in the partition of the lead. */
export function recordId(leadId: string, offset: number): Binary {
  const bytes = Buffer.allocUnsafe(recordBytes);
  writeUuid(bytes, 0, leadId);
  writeOffset(bytes, uuidBytes, offset);
  return new Binary(bytes, 0);
}

/** The offset in a recordId. */
export function readRecordOffset(id: Binary): number {
  const bytes = bytesOf(id);
  return bytes.readUInt32BE(uuidBytes) * 2 ** 32 + bytes.readUInt32BE(uuidBytes + 4);
}

/** The ids of a lead's records before an offset. */
export function recordIdsBefore(leadId: string, offset: number): { $gte: Binary; $lt: Binary } {
  return { $gte: recordId(leadId, 0), $lt: recordId(leadId, offset) };
}

/** The ids of all records of a lead. */
export function recordIdsOf(leadId: string): Range {
  const [low, high] = [Buffer.alloc(recordBytes), Buffer.alloc(recordBytes, 0xff)];
  writeUuid(low, 0, leadId);
  writeUuid(high, 0, leadId);
  return { $gte: new Binary(low, 0), $lte: new Binary(high, 0) };
}

/** An event within its lead: a repeat of the event has the same key. */
export function knownEventId(leadId: string, eventId: string): Binary {
  const bytes = Buffer.allocUnsafe(2 * uuidBytes);
  writeUuid(bytes, 0, leadId);
  writeUuid(bytes, uuidBytes, eventId);
  return new Binary(bytes, 0);
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

export function bytesOf(binary: Binary): Buffer {
  return Buffer.from(binary.buffer.buffer, binary.buffer.byteOffset, binary.position);
}

/** Values of hexadecimal digits by their character codes. */
const digits = new Uint8Array(128);
for (let value = 0; value < 16; value += 1) {
  const digit = value.toString(16);
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Written out by hand: four times as fast as taking out the hyphens, and done several times for every event. */
function writeUuid(bytes: Buffer, at: number, uuid: string): void {
  let to = at;
  for (let from = 0; from < 36; from += 2) {
    if (from === 8 || from === 13 || from === 18 || from === 23) from += 1;
    bytes[to] = ((digits[uuid.charCodeAt(from)] ?? 0) << 4) | (digits[uuid.charCodeAt(from + 1)] ?? 0);
    to += 1;
  }
}

function readUuid(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + uuidBytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function writeTime(bytes: Buffer, at: number, timeMs: number): void {
  writeOffset(bytes, at, timeMs + timeBias);
}

/** Any whole number from 0 to 2^53 - 1. */
function writeOffset(bytes: Buffer, at: number, offset: number): void {
  bytes.writeUInt32BE(Math.floor(offset / 2 ** 32), at);
  bytes.writeUInt32BE(offset % 2 ** 32, at + 4);
}
