// The ids of the stored documents of events. They are ordered keys, because the database reads a range of ids in order from the
// primary index, while a sort by another field may first fetch all matches.
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
const secondBias = 2 ** 38;
const secondBytes = 2 * uuidBytes;

/** The id of a record of events: lead, offset in the partition of the lead. */
export function recordId(leadId: string, offset: number): Binary {
  return orderedKey([leadId], offset);
}

/** The same, where the lead's id is known as bytes. */
export function recordIdAt(leadBytes: Uint8Array, offset: number): Binary {
  const bytes = Buffer.allocUnsafe(recordBytes);
  bytes.set(leadBytes, 0);
  writeOffset(bytes, uuidBytes, offset);
  return new Binary(bytes, 0);
}

/** The offset in a recordId. */
export function readRecordOffset(id: Binary): number {
  return readOffset(bytesOf(id), uuidBytes);
}

/** The ids of a lead's records before an offset. */
export function recordIdsBefore(leadId: string, offset: number): { $gte: Binary; $lt: Binary } {
  return { $gte: recordId(leadId, 0), $lt: recordId(leadId, offset) };
}

/** The ids of a lead's records from an offset on. */
export function recordIdsFrom(leadId: string, offset: number): KeyRange {
  return { ...recordIdsOf(leadId), $gte: recordId(leadId, offset) };
}

/** The ids of all records of a lead. */
export function recordIdsOf(leadId: string): KeyRange {
  return keysWithin([leadId], offsetBytes);
}

/** The id of an event within its lead. A repeat of the event has the same id. */
export function knownEventId(leadId: string, eventId: string): Binary {
  return orderedKey([leadId, eventId]);
}

export function readKnownEventId(id: Binary): { lead_id: string; id: string } {
  const bytes = bytesOf(id);
  return { lead_id: readUuid(bytes, 0), id: readUuid(bytes, uuidBytes) };
}

/** The 16 bytes of the lead in a recordId. */
export function leadBytesOf(record: Binary): Buffer {
  return bytesOf(record).subarray(0, uuidBytes);
}

/** An event's place in its OU's order of time: OU, time, record, index in the record. */
export function placeOf(
  ouId: string,
  {
    leadBytes,
    offset,
    timestampMs,
    index,
  }: { leadBytes: Uint8Array; offset: number; timestampMs: number; index: number },
): Binary {
  const bytes = Buffer.allocUnsafe(placeBytes);
  writeUuid(bytes, 0, ouId);
  writeTime(bytes, uuidBytes, timestampMs);
  bytes.set(leadBytes, recordAt);
  writeOffset(bytes, recordAt + uuidBytes, offset);
  bytes.writeUInt16BE(index, recordAt + recordBytes);
  return new Binary(bytes, 0);
}

/** The parts of the key of a document with the events of one second. */
export interface SecondPlace {
  ouId: string;
  /** Seconds since 1970, rounded down. */
  second: number;
  partition: number;
  /** The number of the block of offsets whose events the document holds. */
  block: number;
  /** 0 for the document that records share; for a record's own document, its offset within the block plus one. */
  part: number;
}

/** The id of a document with the events of one second: OU, second, partition, block of offsets, part. */
export function secondKey({ ouId, second, partition, block, part }: SecondPlace): Binary {
  const bytes = Buffer.allocUnsafe(secondBytes);
  writeUuid(bytes, 0, ouId);
  bytes.writeUIntBE(second + secondBias, uuidBytes, 6);
  bytes.writeUInt16BE(partition, uuidBytes + 6);
  bytes.writeUIntBE(block, uuidBytes + 8, 6);
  bytes.writeUInt16BE(part, uuidBytes + 14);
  return new Binary(bytes, 0);
}

export function readSecondKey(key: Binary): Omit<SecondPlace, 'ouId'> {
  const bytes = bytesOf(key);
  return {
    second: bytes.readUIntBE(uuidBytes, 6) - secondBias,
    partition: bytes.readUInt16BE(uuidBytes + 6),
    block: bytes.readUIntBE(uuidBytes + 8, 6),
    part: bytes.readUInt16BE(uuidBytes + 14),
  };
}

/** The range of ids of an OU's seconds, from one (inclusive) to another (exclusive); null: open. */
export function secondsBetween(
  ouId: string,
  from: number | null,
  to: number | null,
): { $gte: Binary; $lt: Binary } {
  const edge = (second: number | null, open: number) => {
    const bytes = Buffer.alloc(secondBytes, second === null ? open : 0);
    writeUuid(bytes, 0, ouId);
    if (second !== null) bytes.writeUIntBE(second + secondBias, uuidBytes, 6);
    return new Binary(bytes, 0);
  };
  return { $gte: edge(from, 0), $lt: edge(to, 0xff) };
}

/** The record with the event at a place, and the event's index in the record. */
export function eventAtPlace(place: Binary): { record: Binary; index: number } {
  const bytes = bytesOf(place);
  const end = recordAt + recordBytes;
  return {
    record: new Binary(Buffer.from(bytes.subarray(recordAt, end)), 0),
    index: bytes.readUInt16BE(end),
  };
}

/** The time of a place, in milliseconds. */
export function timeOfPlace(place: Binary): number {
  const bytes = bytesOf(place);
  return readOffset(bytes, uuidBytes) - timeBias;
}

/** Whether bytes that a caller sent are a place of the OU. */
export function isPlaceOf(ouId: string, place: Binary): boolean {
  const bytes = bytesOf(place);
  return bytes.length === placeBytes && readUuid(bytes, 0) === ouId.toLowerCase();
}

function writeTime(bytes: Buffer, at: number, timeMs: number): void {
  writeOffset(bytes, at, timeMs + timeBias);
}
