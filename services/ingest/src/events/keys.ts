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

function writeUuid(bytes: Buffer, at: number, uuid: string): void {
  bytes.write(uuid.replaceAll('-', ''), at, uuidBytes, 'hex');
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
