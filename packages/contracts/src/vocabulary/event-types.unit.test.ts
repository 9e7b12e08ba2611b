// Suggestions for misspelt event types, and the name that a type is shown by.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { misspeltEventType, preferredEventTypeName } from './event-types.js';

const seen = ['Page View', 'form_submit', 'Call', 'Email Open'];

test.each([
  ['Page Veiw', 'Page View'],
  ['page_viev', 'Page View'],
  ['PageView', 'Page View'],
  ['Form Submitt', 'form_submit'],
  ['Cal', 'Call'],
])('by %j probably %j', (sent, meant) => {
  expect(misspeltEventType(sent, seen)).toBe(meant);
});

test.each(['page view', 'PAGE_VIEW', 'Form-Submit', 'Mail', 'Webinar', 'Page Views Today', 'x', ''])(
  'by %j nothing else: it has come in, or is like nothing that has',
  (sent) => {
    expect(misspeltEventType(sent, seen)).toBeUndefined();
  },
);

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
