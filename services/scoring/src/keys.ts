// The ids under which scoring stores what it folds. They are ordered keys: an engine serves a range of ids in order
// from the primary index, so leads need no further index by OU and timelines none by lead.
import { Binary } from '@lead-scoring/read-model';

const uuidBytes = 16;
const scoreBytes = 4;
const offsetBytes = 8;
const scoreBias = 2 ** 31;

interface Range {
  $gte: Binary;
  $lte: Binary;
}

/** A lead within its OU. */
export function leadKey(ouId: string, leadId: string): Binary {
  const bytes = Buffer.allocUnsafe(2 * uuidBytes);
  writeUuid(bytes, 0, ouId);
  writeUuid(bytes, uuidBytes, leadId);
  return new Binary(bytes, 0);
}

/** All leads of an OU. */
export function leadKeysOf(ouId: string): Range {
  return rangeWithin(ouId, uuidBytes);
}

export function leadOfKey(key: Binary): string {
  return readUuid(bytesOf(key), uuidBytes);
}

/** A lead's place in its OU's order of scores: OU, score, lead. */
export function rankKey(ouId: string, score: number, leadId: string): Binary {
  const bytes = Buffer.allocUnsafe(2 * uuidBytes + scoreBytes);
  writeUuid(bytes, 0, ouId);
  bytes.writeUInt32BE(score + scoreBias, uuidBytes);
  writeUuid(bytes, uuidBytes + scoreBytes, leadId);
  return new Binary(bytes, 0);
}

/**
 * The edge in an OU's order of scores that lies at a position: a score, and as its fraction the part of the score's
 * leads that lie before it. Leads' ids are hashes, so the parts are even.
 */
export function rankEdge(ouId: string, position: number): Binary {
  const bytes = Buffer.alloc(2 * uuidBytes + scoreBytes);
  writeUuid(bytes, 0, ouId);
  const score = Math.floor(position);
  // The highest score's end has no score of its own.
  if (score >= scoreBias) bytes.fill(0xff, uuidBytes);
  else {
    bytes.writeUInt32BE(score + scoreBias, uuidBytes);
    bytes.writeUIntBE(Math.floor((position - score) * 2 ** 48), uuidBytes + scoreBytes, 6);
  }
  return new Binary(bytes, 0);
}

/** The position of a place: see rankEdge. */
export function rankPosition(key: Binary): number {
  const bytes = bytesOf(key);
  return bytes.readUInt32BE(uuidBytes) - scoreBias + bytes.readUIntBE(uuidBytes + scoreBytes, 6) / 2 ** 48;
}

/** Whether a key that came in from outside is a place of the OU. */
export function isRankKeyOf(ouId: string, key: Binary): boolean {
  const bytes = bytesOf(key);
  return bytes.length === 2 * uuidBytes + scoreBytes && readUuid(bytes, 0) === ouId.toLowerCase();
}

/** A lead that an alias was linked to, under the lead that the alias names by itself: OU, that lead, linked lead. */
export function aliasKey(ouId: string, aliasLeadId: string, leadId: string): Binary {
  const bytes = Buffer.allocUnsafe(3 * uuidBytes);
  writeUuid(bytes, 0, ouId);
  writeUuid(bytes, uuidBytes, aliasLeadId);
  writeUuid(bytes, 2 * uuidBytes, leadId);
  return new Binary(bytes, 0);
}

export function aliasKeysOf(ouId: string, aliasLeadId: string): Range {
  return {
    $gte: aliasKey(ouId, aliasLeadId, '00000000-0000-0000-0000-000000000000'),
    $lte: aliasKey(ouId, aliasLeadId, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
  };
}

export function leadOfAliasKey(key: Binary): string {
  return readUuid(bytesOf(key), 2 * uuidBytes);
}

/** A record of the log under the lead or the OU that it is about. */
export function recordKey(ownerId: string, offset: number): Binary {
  const bytes = Buffer.allocUnsafe(uuidBytes + offsetBytes);
  writeUuid(bytes, 0, ownerId);
  bytes.writeUInt32BE(Math.floor(offset / 2 ** 32), uuidBytes);
  bytes.writeUInt32BE(offset % 2 ** 32, uuidBytes + 4);
  return new Binary(bytes, 0);
}

/** The records of an owner from one offset up to another, both inclusive, in the order of the log. */
export function recordKeysUpTo(ownerId: string, offset: number, from = 0): Range {
  return { $gte: recordKey(ownerId, from), $lte: recordKey(ownerId, offset) };
}

export function hexOf(key: Binary): string {
  return bytesOf(key).toString('hex');
}

export function bytesOf(binary: Binary): Buffer {
  return Buffer.from(binary.buffer.buffer, binary.buffer.byteOffset, binary.position);
}

function rangeWithin(ownerId: string, rest: number): Range {
  const [low, high] = [Buffer.alloc(uuidBytes + rest), Buffer.alloc(uuidBytes + rest, 0xff)];
  writeUuid(low, 0, ownerId);
  writeUuid(high, 0, ownerId);
  return { $gte: new Binary(low, 0), $lte: new Binary(high, 0) };
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
