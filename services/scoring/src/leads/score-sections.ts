// The order of leads by a score, in sections. The order by engagement score is one section of the index. The orders by profile
// and deal score have three: only leads with another score than 0 are in their indexes, and all others lie between those above 0 and
// those below it, in the order of their ids. So a rank, with a score of 0 for these others, is a place in the whole order. Pure.
import type { LeadScoreType } from '@lead-scoring/contracts';
import type { ScoreRange } from './histogram-fold.js';

export type Direction = 'ascending' | 'descending';

export interface ScoreSection {
  /** Whether its leads are in the index of the score. */
  readonly isIndexed: boolean;
  readonly range: ScoreRange;
}

/** The sections of a range, in the direction of the list; empty ones are left out. */
export function sectionsOf(
  scoreType: LeadScoreType,
  range: ScoreRange,
  direction: Direction,
): ScoreSection[] {
  const { low, high } = range;
  const sections: ScoreSection[] =
    scoreType === 'engagement'
      ? [{ isIndexed: true, range }]
      : [
          { isIndexed: true, range: { low, high: Math.min(high, -1) } },
          { isIndexed: false, range: { low: Math.max(low, 0), high: Math.min(high, 0) } },
          { isIndexed: true, range: { low: Math.max(low, 1), high } },
        ];
  const filled = sections.filter((section) => section.range.low <= section.range.high);
  return direction === 'ascending' ? filled : filled.reverse();
}

/**
 * The section with a score, or the next one behind it; the number of sections where none is.
 * @param score of a page's last lead
 */
export function sectionAt(sections: readonly ScoreSection[], score: number, direction: Direction): number {
  const found = sections.findIndex(({ range }) =>
    direction === 'ascending' ? score <= range.high : score >= range.low,
  );
  return found === -1 ? sections.length : found;
}

/** The section in which a page begins that skips so many leads, and the leads to skip in it. */
export function sectionAfter(counts: readonly number[], skip: number): { section: number; skip: number } {
  let left = skip;
  for (const [section, count] of counts.entries()) {
    if (left < count || section === counts.length - 1) return { section, skip: left };
    left -= count;
  }
  return { section: counts.length, skip: left };
}
