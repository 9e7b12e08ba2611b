// The places of leads in the order of the scores of their accounts, and the cursors that name them. Pure.
import { Binary, bytesOf, InvalidCursor, readUuid, uuidBytes, writeUuid } from '@lead-scoring/read-model';
import { isRankKeyOf, leadOfRank } from '../keys.js';
import type { LeadDocument } from '../leads/documents.js';
import type { Direction } from '../leads/score-sections.js';

export interface Place {
  /** rankKey of OU, score and account. */
  readonly rank: Binary;
  readonly account_id: string;
  readonly lead_id: string;
}

export interface PlacedLead {
  readonly lead: LeadDocument;
  readonly place: Place;
}

const listMarks: Readonly<Record<Direction, string>> = { ascending: 'p', descending: 'P' };

/** The place of a page's last lead: the next page starts after it, even if the account's score has changed. */
export function placeCursor({ rank, lead_id }: Place, direction: Direction): string {
  const lead = Buffer.alloc(uuidBytes);
  writeUuid(lead, 0, lead_id);
  return Buffer.concat([Buffer.from(listMarks[direction]), bytesOf(rank), lead]).toString('base64url');
}

/** @throws InvalidCursor */
export function readPlaceCursor(
  cursor: string,
  { ouId, direction }: { ouId: string; direction: Direction },
): Place {
  const bytes = Buffer.from(cursor, 'base64url');
  const rank = new Binary(bytes.subarray(1, -uuidBytes), 0);
  if (bytes.toString('latin1', 0, 1) !== listMarks[direction] || !isRankKeyOf(ouId, rank))
    throw new InvalidCursor();
  return { rank, account_id: leadOfRank(rank), lead_id: readUuid(bytes, bytes.length - uuidBytes) };
}
