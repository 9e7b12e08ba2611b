// The ids of scoring's documents. They are ordered keys: the database serves a range of ids in order from the primary index, so
// leads need no further index by OU and timelines none by lead.
import {
  Binary,
  bytesOf,
  keysWithin,
  offsetBytes,
  orderedKey,
  readUuid,
  uuidBytes,
  writeUuid,
  type KeyRange,
} from '@lead-scoring/read-model';

const scoreBytes = 4;
const scoreBias = 2 ** 31;

/** The id of a lead in its OU. */
export function leadKey(ouId: string, leadId: string): Binary {
  return orderedKey([ouId, leadId]);
}

/** The ids of an OU's leads after one lead and up to another; null: from the first lead on, or up to the last one. */
export function leadKeysBetween(ouId: string, after: string | null, to: string | null): LeadKeyRange {
  const all = leadKeysOf(ouId);
  return {
    ...(after === null ? { $gte: all.$gte } : { $gt: leadKey(ouId, after) }),
    $lte: to === null ? all.$lte : leadKey(ouId, to),
  };
}

type LeadKeyRange = Pick<KeyRange, '$lte'> & ({ $gt: Binary } | Pick<KeyRange, '$gte'>);

/** The ids of all leads of an OU. */
export function leadKeysOf(ouId: string): KeyRange {
  return keysWithin([ouId], uuidBytes);
}

export function ouOfLeadKey(key: Binary): string {
  return readUuid(bytesOf(key), 0);
}

export function leadOfKey(key: Binary): string {
  return readUuid(bytesOf(key), uuidBytes);
}

/** A lead's rank in its OU's order of scores: OU, score, lead. */
export function rankKey(ouId: string, score: number, leadId: string): Binary {
  const bytes = Buffer.allocUnsafe(2 * uuidBytes + scoreBytes);
  writeUuid(bytes, 0, ouId);
  bytes.writeUInt32BE(score + scoreBias, uuidBytes);
  writeUuid(bytes, uuidBytes + scoreBytes, leadId);
  return new Binary(bytes, 0);
}

/**
 * The bound in an OU's order of scores at a position. A position is a score plus a fraction, the share of the score's leads that
 * lie before the bound. Leads' ids are hashes, so they are evenly distributed.
 */
export function rankEdge(ouId: string, position: number): Binary {
  const bytes = Buffer.alloc(2 * uuidBytes + scoreBytes);
  writeUuid(bytes, 0, ouId);
  const score = Math.floor(position);
  // The position behind the highest score.
  if (score >= scoreBias) bytes.fill(0xff, uuidBytes);
  else {
    bytes.writeUInt32BE(score + scoreBias, uuidBytes);
    bytes.writeUIntBE(Math.floor((position - score) * 2 ** 48), uuidBytes + scoreBytes, 6);
  }
  return new Binary(bytes, 0);
}

/** The position of a rank: see rankEdge. */
export function rankPosition(key: Binary): number {
  const bytes = bytesOf(key);
  return bytes.readUInt32BE(uuidBytes) - scoreBias + bytes.readUIntBE(uuidBytes + scoreBytes, 6) / 2 ** 48;
}

/** The lead that a rank is of. */
export function leadOfRank(key: Binary): string {
  return readUuid(bytesOf(key), uuidBytes + scoreBytes);
}

/** Whether a key from a cursor is a rank of the OU. */
export function isRankKeyOf(ouId: string, key: Binary): boolean {
  const bytes = bytesOf(key);
  return bytes.length === 2 * uuidBytes + scoreBytes && readUuid(bytes, 0) === ouId.toLowerCase();
}

/** The id of a linked alias: OU, the alias's own lead, the lead to which the alias was linked. */
export function aliasKey(ouId: string, aliasLeadId: string, leadId: string): Binary {
  return orderedKey([ouId, aliasLeadId, leadId]);
}

export function aliasKeysOf(ouId: string, aliasLeadId: string): KeyRange {
  return keysWithin([ouId, aliasLeadId], uuidBytes);
}

export function leadOfAliasKey(key: Binary): string {
  return readUuid(bytesOf(key), 2 * uuidBytes);
}

/** The id of a record of the log: its lead or OU, and its offset. */
export function recordKey(ownerId: string, offset: number): Binary {
  return orderedKey([ownerId], offset);
}

/** The ids of a lead's or an OU's records from one offset up to another, both inclusive, in the order of the log. */
export function recordKeysUpTo(ownerId: string, offset: number, from = 0): KeyRange {
  return { $gte: recordKey(ownerId, from), $lte: recordKey(ownerId, offset) };
}

/** Partition numbers are smaller. */
const partitionSize = 2 ** 16;

/** The id of what belongs to a version of a rule in one partition: OU, rule, version, partition. */
export function ruleVersionKey(
  ouId: string,
  ruleId: string,
  { version, partition }: { version: number; partition: number },
): Binary {
  return orderedKey([ouId, ruleId], version * partitionSize + partition);
}

/** The ids of a rule's versions from one on, in all partitions, in ascending order of the versions. */
export function ruleVersionKeysFrom(ouId: string, ruleId: string, version: number): KeyRange {
  const { $lte } = keysWithin([ouId, ruleId], offsetBytes);
  return { $gte: ruleVersionKey(ouId, ruleId, { version, partition: 0 }), $lte };
}
