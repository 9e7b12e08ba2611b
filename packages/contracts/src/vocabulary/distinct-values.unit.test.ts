// Values of a field have one hash exactly if filters find them equal.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { distinctValueOf } from './distinct-values.js';
import { compileFilters } from './filters.js';

const operand = fc.oneof(
  fc.constantFrom('1', '1.0', 'a', 'A', 'true', 'null', 'Infinity', '1e999', ' a', ''),
  fc.constantFrom(0, -0, 1, 10, 0.1),
  fc.boolean(),
  fc.string(),
);

test('two values have one hash if and only if a filter with one of them takes the other', () => {
  const hashOf = distinctValueOf('path');
  fc.assert(
    fc.property(operand, operand, (one, other) => {
      const isEqual = compileFilters([{ field: 'path', operator: 'equals', value: one }])({ path: other });
      expect(hashOf({ path: one }) === hashOf({ path: other })).toBe(isEqual);
    }),
  );
});

test('missing and null are one value, lists and objects are values as a whole, and the order of keys makes none', () => {
  const hashOf = distinctValueOf('page.path');
  const of = (path: Parameters<typeof hashOf>[0]) => hashOf({ page: path ?? null });
  expect(hashOf(undefined)).toBe(hashOf({}));
  expect(of({ path: null })).toBe(hashOf({}));
  expect(of({ path: ['a', 'b'] })).not.toBe(of({ path: ['b', 'a'] }));
  expect(of({ path: ['a'] })).not.toBe(of({ path: 'a' }));
  expect(of({ path: { x: 1, y: 'A' } })).toBe(of({ path: { y: 'a', x: '1' } }));
});

test('the same value of another field is another one', () => {
  expect(distinctValueOf('a')({ a: 1, b: 1 })).not.toBe(distinctValueOf('b')({ a: 1, b: 1 }));
});

test('a hash never changes: it is compared with those on the log', () => {
  expect(distinctValueOf('path')({ path: '/Pricing' })).toBe('FvivuK3E');
});
