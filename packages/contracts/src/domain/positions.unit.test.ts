// Positions come back as they were made, and nothing else is taken for one.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodePosition, encodePosition, formatPositions, parsePositions } from './positions.js';

const offsets = fc.uniqueArray(
  fc.record({ partition: fc.integer({ min: 0, max: 999 }), offset: fc.bigInt({ min: 0n, max: 2n ** 53n }) }),
  { selector: ({ partition }) => partition, minLength: 1, maxLength: 30 },
);

describe('positions', () => {
  test('a position decodes to what it was made of, in the order of partitions', () => {
    fc.assert(
      fc.property(offsets, (given) => {
        expect(decodePosition(encodePosition(given))).toEqual(
          [...given].sort((a, b) => a.partition - b.partition),
        );
      }),
    );
  });

  test('a position of six partitions is short', () => {
    const six = Array.from({ length: 6 }, (_, partition) => ({ partition, offset: 1_000_000_000n }));
    expect(encodePosition(six).length).toBeLessThan(60);
  });

  test.each(['', '!', 'gA', 'AA', 'AAAA', '////', 'a b'])('%j is no position', (text) => {
    expect(decodePosition(text)).toBeNull();
  });

  test('any text either decodes or gives null; it never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const decoded = decodePosition(text);
        expect(decoded === null || Array.isArray(decoded)).toBe(true);
      }),
    );
  });

  test('the header reads back what it was written from', () => {
    fc.assert(
      fc.property(offsets, (given) => {
        expect(parsePositions(formatPositions(given))).toEqual(given);
      }),
    );
    expect(parsePositions('')).toEqual([]);
  });

  test.each(['1', '1:', ':1', '1:2,', '1:-2', '1:2;3:4', ' 1:2'])('%j is no header of positions', (text) => {
    expect(parsePositions(text)).toBeNull();
  });
});
