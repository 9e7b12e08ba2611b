// The sizes of what an export reads in one call: large where events are small, and never larger than memory is to have.
import { expect, test } from '@jest/globals';
import { Binary } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { documentsAtOnce, evenPart, isAtEnd, maximumBytes, placesAtOnce } from './part-sizes.js';

test('the records of many places are read at once where they are small, and of few where they are large', () => {
  expect(placesAtOnce(250, 250 * 600)).toBe(1_000);
  expect(placesAtOnce(250, 250 * 20_000)).toBe(100);
  expect(placesAtOnce(1, 5_000_000)).toBe(1);
  // None of the records were stored yet.
  expect(placesAtOnce(250, 0)).toBe(1_000);
});

test('law: records that are as large as those before fit into memory together, or are read alone', () => {
  const sizes = [fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 0, max: maximumBytes })] as const;
  fc.assert(
    fc.property(...sizes, (places, bytes) => {
      const next = placesAtOnce(places, bytes);
      expect(next).toBeGreaterThanOrEqual(1);
      if (next > 1) expect((next * bytes) / places).toBeLessThanOrEqual(maximumBytes);
    }),
  );
});

test('law: parts have about the same size, none is too large, and together they are the whole', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 1_000 }), (all, most) => {
      const parts: number[] = [];
      for (let left = all; left > 0; left -= parts.at(-1) ?? left) parts.push(evenPart(left, most));
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(all);
      expect(Math.max(...parts)).toBeLessThanOrEqual(most);
      expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
      expect(parts).toHaveLength(Math.ceil(all / most));
    }),
  );
});

test('as many documents of seconds are read as have the wanted places, and a few more', () => {
  expect(documentsAtOnce(100, { documents: 1, places: 1 })).toBe(108);
  expect(documentsAtOnce(2_000, { documents: 10, places: 4_000 })).toBe(13);
  // In four calls of the same size, because one would be too large.
  expect(documentsAtOnce(2_000, { documents: 100, places: 100 })).toBe(502);
});

test('the last documents of seconds are fewer than the limit, and have fewer bytes than those at which the database ends an answer', () => {
  const second = (events: number, types = ['page_view']) => ({
    types,
    events: new Binary(Buffer.alloc(24 * events), 0),
  });
  expect(isAtEnd([], 512)).toBe(true);
  expect(isAtEnd([second(1), second(100)], 3)).toBe(true);
  expect(isAtEnd([second(1), second(100)], 2)).toBe(false);
  // An answer of 22 such documents has nearly 16 MB, and there may be a further one.
  expect(isAtEnd(Array<ReturnType<typeof second>>(22).fill(second(30_000)), 512)).toBe(false);
  const manyTypes = Array.from({ length: 30_000 }, (_, index) => `${'x'.repeat(90)}${String(index)}`);
  expect(isAtEnd([second(30_000, manyTypes)], 512)).toBe(false);
});
