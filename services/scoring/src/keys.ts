// The ids under which scoring stores what it folds. They are ordered keys: an engine serves a range of ids in order
// from the primary index, so leads need no further index by OU and timelines none by lead.
import {
  Binary,
  bytesOf,
  keysWithin,
  orderedKey,
  readUuid,
  uuidBytes,
  writeUuid,
  type KeyRange,
} from '@lead-scoring/read-model';

const scoreBytes = 4;
const scoreBias = 2 ** 31;

/** A lead within its OU. */
export function leadKey(ouId: string, leadId: string): Binary {
  return orderedKey([ouId, leadId]);
}

/** All leads of an OU. */
export function leadKeysOf(ouId: string): KeyRange {
  return keysWithin([ouId], uuidBytes);
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
  return orderedKey([ouId, aliasLeadId, leadId]);
}

export function aliasKeysOf(ouId: string, aliasLeadId: string): KeyRange {
  return keysWithin([ouId, aliasLeadId], uuidBytes);
}

export function leadOfAliasKey(key: Binary): string {
  return readUuid(bytesOf(key), 2 * uuidBytes);
}

/** A record of the log under the lead or the OU that it is about. */
export function recordKey(ownerId: string, offset: number): Binary {
  return orderedKey([ownerId], offset);
}

/** The records of an owner up to an offset, in the order of the log. */
export function recordKeysUpTo(ownerId: string, offset: number): KeyRange {
  return { $gte: recordKey(ownerId, 0), $lte: recordKey(ownerId, offset) };
}
