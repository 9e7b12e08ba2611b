// The ids under which events are stored. They are ordered keys, because an engine serves a range of ids in order
// from the primary index while a sort by any other field may fetch all matches first.
import { Binary } from '@lead-scoring/read-model';

const uuidBytes = 16;
const timeBytes = 8;
/** Added to a time so that it is never negative: event times go back to the year 0. */
const timeBias = 2 ** 48;

/** An event within its lead: the lead's events are one range, and a repeat of the event has the same key. */
export function storedEventId(leadId: string, eventId: string): Binary {
  const bytes = Buffer.allocUnsafe(2 * uuidBytes);
  writeUuid(bytes, 0, leadId);
  writeUuid(bytes, uuidBytes, eventId);
  return new Binary(bytes, 0);
}

/** The ids of all events of a lead. */
export function storedEventIdsOf(leadId: string): { $gte: Binary; $lte: Binary } {
  const [low, high] = [Buffer.alloc(2 * uuidBytes), Buffer.alloc(2 * uuidBytes, 0xff)];
  writeUuid(low, 0, leadId);
  writeUuid(high, 0, leadId);
  return { $gte: new Binary(low, 0), $lte: new Binary(high, 0) };
}

export function readStoredEventId(id: Binary): { lead_id: string; id: string } {
  const bytes = bytesOf(id);
  return { lead_id: readUuid(bytes, 0), id: readUuid(bytes, uuidBytes) };
}

/** An event's place in its OU's order of time: OU, time, lead, event. */
export function placeId(ouId: string, timestampMs: number, eventId: Binary): Binary {
  const bytes = Buffer.allocUnsafe(3 * uuidBytes + timeBytes);
  writeUuid(bytes, 0, ouId);
  writeTime(bytes, uuidBytes, timestampMs);
  bytes.set(eventId.buffer, uuidBytes + timeBytes);
  return new Binary(bytes, 0);
}

/** `storedEventId` and `placeId` of many events of one lead: the ids that they share are written once. */
export function keysOfLead(
  ouId: string,
  leadId: string,
): (eventId: string, timestampMs: number) => { event: Binary; place: Binary } {
  const shared = Buffer.allocUnsafe(2 * uuidBytes);
  writeUuid(shared, 0, ouId);
  writeUuid(shared, uuidBytes, leadId);
  const leadAt = uuidBytes + timeBytes;
  return (eventId, timestampMs) => {
    const place = Buffer.allocUnsafe(3 * uuidBytes + timeBytes);
    shared.copy(place, 0, 0, uuidBytes);
    writeTime(place, uuidBytes, timestampMs);
    shared.copy(place, leadAt, uuidBytes);
    writeUuid(place, leadAt + uuidBytes, eventId);
    // The event's key is the end of its place; the two may share their bytes, for nobody writes into them.
    return { event: new Binary(place.subarray(leadAt), 0), place: new Binary(place, 0) };
  };
}

/** The places of an OU from one time (inclusive) to another (exclusive), in milliseconds. */
export function placesBetween(
  ouId: string,
  fromMs: number | null,
  toMs: number | null,
): { $gte: Binary; $lt: Binary } {
  const edge = (timeMs: number | null, open: number) => {
    const bytes = Buffer.alloc(3 * uuidBytes + timeBytes, open);
    writeUuid(bytes, 0, ouId);
    if (timeMs !== null) {
      bytes.fill(0, uuidBytes);
      writeTime(bytes, uuidBytes, timeMs);
    }
    return new Binary(bytes, 0);
  };
  return { $gte: edge(fromMs, 0), $lt: edge(toMs, 0xff) };
}

/** The id of the event that has this place. */
export function eventAtPlace(place: Binary): Binary {
  return new Binary(Buffer.from(bytesOf(place).subarray(uuidBytes + timeBytes)), 0);
}

/** The event time of a place. */
export function timeAtPlace(place: Binary): Date {
  const bytes = bytesOf(place);
  return new Date(bytes.readUInt32BE(uuidBytes) * 2 ** 32 + bytes.readUInt32BE(uuidBytes + 4) - timeBias);
}

/** Whether a place that came in from outside is one of the OU. */
export function isPlaceOf(ouId: string, place: Binary): boolean {
  const bytes = bytesOf(place);
  return bytes.length === 3 * uuidBytes + timeBytes && readUuid(bytes, 0) === ouId.toLowerCase();
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
  const biased = timeMs + timeBias;
  bytes.writeUInt32BE(Math.floor(biased / 2 ** 32), at);
  bytes.writeUInt32BE(biased % 2 ** 32, at + 4);
}
