// The order of leads by a score in sections: for any leads, pages and cursors find the place where sorting all leads finds it.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sectionAfter, sectionAt, sectionsOf } from './score-sections.js';

const scoreType = fc.constantFrom('engagement' as const, 'profile' as const, 'deal' as const);
const direction = fc.constantFrom('ascending' as const, 'descending' as const);
const scores = fc.array(fc.constantFrom(-7, -1, 0, 0, 0, 1, 4), { maxLength: 12 });
const bound = fc.integer({ min: -8, max: 5 });

test('the sections of a range have all scores of the range, in the order of the list', () => {
  fc.assert(
    fc.property(scoreType, direction, scores, bound, bound, (type, way, all, low, high) => {
      const sections = sectionsOf(type, { low, high }, way);
      const listed = sections.flatMap(({ range }) =>
        all.filter((score) => range.low <= score && score <= range.high).sort((a, b) => a - b),
      );
      const expected = all.filter((score) => low <= score && score <= high).sort((a, b) => a - b);
      expect(way === 'ascending' ? listed : listed.toSorted((a, b) => a - b)).toEqual(expected);
      for (const { isIndexed, range } of sections) {
        expect(range.low).toBeLessThanOrEqual(range.high);
        if (isIndexed && type !== 'engagement') expect(range.low <= 0 && 0 <= range.high).toBe(false);
        if (!isIndexed) expect(range).toEqual({ low: 0, high: 0 });
      }
      const firsts = sections.map(({ range }) => range.low);
      expect(firsts).toEqual(firsts.toSorted((a, b) => (way === 'ascending' ? a - b : b - a)));
    }),
  );
});

test('a page begins where the leads before it end, and after a cursor no section before it is read', () => {
  fc.assert(
    fc.property(direction, scores, fc.nat(12), bound, (way, all, skip, score) => {
      const sections = sectionsOf('profile', { low: -8, high: 5 }, way);
      const counts = sections.map(
        ({ range }) => all.filter((one) => range.low <= one && one <= range.high).length,
      );
      const place = sectionAfter(counts, skip);
      const before = counts.slice(0, place.section).reduce((sum, count) => sum + count, 0);
      expect(before + place.skip).toBe(skip);
      const at = sectionAt(sections, score, way);
      for (const { range } of sections.slice(0, at))
        expect(way === 'ascending' ? range.high < score : range.low > score).toBe(true);
      const own = sections[at]?.range;
      if (own) expect(way === 'ascending' ? score <= own.high : score >= own.low).toBe(true);
    }),
  );
});
