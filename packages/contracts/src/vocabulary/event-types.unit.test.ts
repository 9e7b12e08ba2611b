// Suggestions for misspelt event types.
import { expect, test } from '@jest/globals';
import { misspeltEventType } from './event-types.js';

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
