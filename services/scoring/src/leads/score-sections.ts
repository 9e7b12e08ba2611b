// The order of leads by a score, in sections. The order by engagement score is one section of the index. The order by profile score
// has three: only leads with another profile score than 0 are in its index, and all others lie between those above 0 and those
// below it, in the order of their ids. So a rank, with a score of 0 for these others, is a place in the whole order. Pure.
import type { LeadScoreType } from '@lead-scoring/contracts';
import type { ScoreRange } from './histogram-fold.js';

export type Direction = 'ascending' | 'descending';

export interface ScoreSection {
  /** The field of the index; null: the leads that are not in it. */
  readonly index: 'rank' | 'profile_rank' | null;
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
      ? [{ index: 'rank', range }]
      : [
          { index: 'profile_rank', range: { low, high: Math.min(high, -1) } },
          { index: null, range: { low: Math.max(low, 0), high: Math.min(high, 0) } },
          { index: 'profile_rank', range: { low: Math.max(low, 1), high } },
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
