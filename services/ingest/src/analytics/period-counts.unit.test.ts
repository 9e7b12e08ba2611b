// Counts by time: their documents depend only on the log, and hold what a recount of the events holds.
import { describe, expect, test } from '@jest/globals';
import { bytesOf } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { maximumTypes, PeriodCounts, visitCounts } from './period-counts.js';
import {
  cellOf,
  cellStart,
  levels,
  periodId,
  periodIdsBetween,
  readLevel,
  readPeriod,
  type Level,
} from './period-keys.js';

const ouId = '11111111-1111-4111-8111-111111111111';
const level = fc.constantFrom<Level>('hours', 'days');
const time = fc.integer({ min: Date.UTC(0, 0, 1) - 1e13, max: Date.UTC(9999, 11, 31) });

describe('keys of counts by time', () => {
  test('a moment is in its cell, and a cell of days is a period of hours', () => {
    fc.assert(
      fc.property(level, time, (of, timeMs) => {
        const startMs = cellStart(of, cellOf(of, timeMs));
        expect(timeMs - startMs).toBeGreaterThanOrEqual(0);
        expect(timeMs - startMs).toBeLessThan(levels[of].cellMs);
        const { period } = cellOf('hours', timeMs);
        expect(cellStart('hours', { period, cell: 0 })).toBe(cellStart('days', cellOf('days', timeMs)));
      }),
    );
  });

  test('ids are read back, and those of a level from one period to another are a range in the order of time', () => {
    fc.assert(
      fc.property(
        level,
        level,
        time,
        fc.array(time, { minLength: 2, maxLength: 2 }),
        fc.nat(999),
        (of, other, at, edges, partition) => {
          const periodAt = (timeMs: number) => cellOf(of, timeMs).period;
          const [from = 0, to = 0] = edges.map(periodAt).sort((left, right) => left - right);
          const id = periodId(ouId, of, periodAt(at), partition);
          expect(readPeriod(id)).toBe(periodAt(at));
          const range = periodIdsBetween(ouId, other, from, to);
          const isWithin =
            Buffer.compare(bytesOf(id), bytesOf(range.$gte)) >= 0 &&
            Buffer.compare(bytesOf(id), bytesOf(range.$lt)) < 0;
          expect(isWithin).toBe(of === other && periodAt(at) >= from && periodAt(at) < to);
        },
      ),
    );
  });
});

describe('counts of a period', () => {
  const cells = 24;
  const id = periodId(ouId, 'hours', 7, 3);
  /** Changes of each record: those that a deletion subtracts were added before. */
  const records = fc.array(
    fc.array(fc.tuple(fc.constantFrom('a', 'b', 'ü'), fc.nat(cells - 1), fc.integer({ min: 1, max: 9 })), {
      minLength: 1,
      maxLength: 4,
    }),
    { maxLength: 12 },
  );

  test('law: however they are loaded, stored and repeated between records, they are a recount, and deletions leave the rest', () => {
    fc.assert(
      fc.property(records, fc.infiniteStream(fc.boolean()), fc.nat(11), (added, stored, gone) => {
        const deleted = added[gone];
        const log = [
          ...added.map((changes) => ({ changes, sign: 1 })),
          ...(deleted ? [{ changes: deleted, sign: -1 }] : []),
        ];
        const expected = new Map<string, number>();
        let counts = new PeriodCounts(cells, null);
        log.forEach(({ changes, sign }, offset) => {
          for (const [type, cell, events] of changes) {
            const key = `${type} ${String(cell)}`;
            expected.set(key, (expected.get(key) ?? 0) + sign * events);
            expect(counts.add(type, cell, sign * events, offset)).toBe(true);
          }
          if (stored.next().value !== true) return;
          counts = new PeriodCounts(cells, counts.document(id, 3));
          for (const [type, cell, events] of changes)
            expect(counts.add(type, cell, sign * events, offset)).toBe(false);
        });
        const found = new Map<string, number>();
        const document = counts.document(id, 3);
        visitCounts(document, (type, cell, events) => found.set(`${type} ${String(cell)}`, events));
        expect(found).toEqual(new Map([...expected].filter(([, events]) => events > 0)));
        expect(document).toMatchObject({ _id: id, partition: 3, offset: log.length - 1 });
      }),
    );
  });

  test('a period with very many types is not counted, and is not written again', () => {
    const counts = new PeriodCounts(cells, null);
    for (let type = 0; type < maximumTypes; type += 1) counts.add(String(type), 1, 1, type);
    expect(counts.document(id, 3)).not.toHaveProperty('has_too_many_types');
    expect(counts.add('one more', 1, 1, maximumTypes)).toBe(true);
    const document = counts.document(id, 3);
    expect(document).toMatchObject({ types: [], has_too_many_types: true, offset: maximumTypes });
    for (const full of [counts, new PeriodCounts(cells, document)]) {
      expect(full.add('1', 1, 1, maximumTypes + 1)).toBe(false);
      expect(full.document(id, 3)).toEqual(document);
    }
  });
});

test('a type that is taken away is gone from a period once, and its later events count', () => {
  const counts = new PeriodCounts(levels.hours.cells, null);
  counts.add('page view', 1, 3, 1);
  counts.add('email open', 1, 2, 2);
  expect(counts.removeType('page view', 3)).toBe(true);
  expect(counts.removeType('page view', 3)).toBe(false);
  // Folded again after a crash.
  expect(counts.add('page view', 1, 3, 1)).toBe(false);
  counts.add('page view', 2, 1, 4);
  const found: [string, number, number][] = [];
  const id = periodId(ouId, 'hours', 7, 0);
  visitCounts(counts.document(id, 0), (type, cell, events) => found.push([type, cell, events]));
  expect(found.sort()).toEqual([
    ['email open', 1, 2],
    ['page view', 2, 1],
  ]);
  expect([readLevel(id), readLevel(periodId(ouId, 'days', -7, 65_535))]).toEqual(['hours', 'days']);
});
