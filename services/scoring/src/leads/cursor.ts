// Cursors of lists of leads: short, opaque, and valid only for the list that returned them.
import { Binary, bytesOf, InvalidCursor } from '@lead-scoring/read-model';
import type { LeadScoreType } from '@lead-scoring/contracts';
import { isRankKeyOf } from '../keys.js';
import type { Direction } from './score-sections.js';

/** The rank of the page's last lead: the next page starts after this rank, even if the lead's score has changed. */
export function rankCursor(key: Binary, direction: Direction, scoreType: LeadScoreType): string {
  return Buffer.concat([Buffer.from(listMark(direction, scoreType)), bytesOf(key)]).toString('base64url');
}

/** One letter for each order by a score. */
const listMarks: Readonly<Record<LeadScoreType, Readonly<Record<Direction, string>>>> = {
  engagement: { ascending: 'a', descending: 'd' },
  profile: { ascending: 'A', descending: 'D' },
  deal: { ascending: 'b', descending: 'e' },
};

function listMark(direction: Direction, scoreType: LeadScoreType): string {
  return listMarks[scoreType][direction];
}

/** @throws InvalidCursor */
export function readRankCursor(
  cursor: string,
  ouId: string,
  direction: Direction,
  scoreType: LeadScoreType,
): Binary {
  const bytes = Buffer.from(cursor, 'base64url');
  const key = new Binary(bytes.subarray(1), 0);
  if (bytes.toString('latin1', 0, 1) !== listMark(direction, scoreType) || !isRankKeyOf(ouId, key))
    throw new InvalidCursor();
  return key;
}

/** The last lead of a page: the next page starts after the lead's position in this order at that time. */
export function leadCursor(leadId: string, sort: string): string {
  return Buffer.from(`${sort} ${leadId}`).toString('base64url');
}

/** @throws InvalidCursor */
export function readLeadCursor(cursor: string, sort: string): string {
  const [ofSort, leadId] = Buffer.from(cursor, 'base64url').toString().split(' ');
  if (ofSort !== sort || leadId === undefined || !/^[0-9a-f-]{36}$/.test(leadId)) throw new InvalidCursor();
  return leadId;
}

/** The number of the next page, for lists that consist of several parts. */
export function pageCursor(page: number): string {
  return Buffer.from(`page ${String(page)}`).toString('base64url');
}

/** @throws InvalidCursor */
export function readPageCursor(cursor: string): number {
  const page = /^page (\d{1,7})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (page === undefined) throw new InvalidCursor();
  return Number(page);
}
