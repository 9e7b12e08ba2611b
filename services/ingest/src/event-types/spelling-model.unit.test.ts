// The name that an event type is shown by.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { preferredEventTypeName } from './spelling-model.js';

test('the name to show does not depend on which spelling came first', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
      expect(preferredEventTypeName(a, b)).toBe(preferredEventTypeName(b, a));
      expect(preferredEventTypeName(preferredEventTypeName(a, b), c)).toBe(
        preferredEventTypeName(a, preferredEventTypeName(b, c)),
      );
    }),
  );
  expect(preferredEventTypeName('page_view', 'Page View')).toBe('Page View');
});
