import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Binary } from 'mongodb';
import {
  containsText,
  decodeCursor,
  encodeCursor,
  equals,
  escapeForRegex,
  InvalidCursor,
  within,
  type Scalar,
  type SortOrder,
} from './queries.js';
import { keyOf, uuidToBinary } from './values.js';

interface Lead {
  score: number;
  name: string;
}

const byScore: SortOrder<Lead> = { field: 'score', direction: 'descending' };
const byName: SortOrder<Lead> = { field: 'name', direction: 'ascending' };

describe("users' values", () => {
  test('only scalars can be compared, so users cannot pass in operators', () => {
    const hostile: unknown[] = [
      { $ne: null },
      { $gt: '' },
      ['a'],
      undefined,
      Number.NaN,
      () => 1,
      new Date(Number.NaN),
    ];
    for (const value of hostile) {
      expect(() => equals(value as Scalar)).toThrow(TypeError);
      expect(() => within({ from: value as string, to: 'x' })).not.toThrow(RangeError);
      if (value !== undefined) expect(() => within({ from: value as string })).toThrow(TypeError);
      expect(() => escapeForRegex(value as string)).toThrow(TypeError);
    }
    expect(equals('$ne')).toEqual({ $eq: '$ne' });
  });

  test('any search text matches itself literally', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), fc.string(), (text, around) => {
        fc.pre(text.isWellFormed());
        expect(new RegExp(containsText(text).$regex).test(`${around}${text}${around}`)).toBe(true);
      }),
    );
    expect(new RegExp(containsText('a.c').$regex).test('abc')).toBe(false);
    expect(new RegExp(containsText('(a+)+$').$regex).test('aaaa')).toBe(false);
  });

  test('bounds make a range; without bounds there is no filter', () => {
    expect(within({})).toBeUndefined();
    expect(within({ from: 1, before: 3 })).toEqual({ $gte: 1, $lt: 3 });
    expect(within({ from: undefined, to: 3 })).toEqual({ $lte: 3 });
  });
});

describe('cursors', () => {
  const values = fc.oneof<fc.Arbitrary<Scalar>[]>(
    fc.string(),
    // 0 for -0: JSON has only one of them, and they sort equally.
    fc.double({ noNaN: true }).map((value) => value + 0),
    fc.boolean(),
    fc.constant(null),
    fc.date({ noInvalidDate: true }),
    fc.uuid().map(uuidToBinary),
  );

  /** UUIDs, and keys of more bytes. */
  const ids = fc.oneof(
    fc.uuid().map(uuidToBinary),
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => new Binary(Buffer.from(bytes), 0)),
  );

  test('a cursor is decoded to the encoded position, and its text is safe in a URL', () => {
    fc.assert(
      fc.property(values, ids, (value, id) => {
        const text = encodeCursor({ value, id }, byScore);
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        const back = decodeCursor(text, byScore);
        expect(back.value instanceof Binary ? keyOf(back.value) : back.value).toEqual(
          value instanceof Binary ? keyOf(value) : value,
        );
        expect(keyOf(back.id)).toBe(keyOf(id));
      }),
    );
  });

  test('a cursor of another sort or direction is refused', () => {
    const text = encodeCursor({ value: 1, id: 'x' }, byScore);
    expect(() => decodeCursor(text, byName)).toThrow(InvalidCursor);
    expect(() => decodeCursor(text, { ...byScore, direction: 'ascending' })).toThrow(InvalidCursor);
  });

  test('any other text is refused, and decoding yields only scalars', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => decodeCursor(text, byScore)).toThrow(InvalidCursor);
      }),
    );
    const forged = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
    for (const content of [
      ['-score', { $ne: null }, 'sx'],
      ['-score', 'n1'],
      ['-score', 'nNaN', 'sx'],
      ['-score', 'n', 'sx'],
      ['-score', 'uxyz', 'sx'],
      ['-score', 'dnever', 'sx'],
      ['-score', '?', 'sx'],
      { 0: '-score' },
    ])
      expect(() => decodeCursor(forged(content), byScore)).toThrow(InvalidCursor);
  });
});
