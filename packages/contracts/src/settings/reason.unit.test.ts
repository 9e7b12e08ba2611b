// The reason of an error in one line.
import { expect, test } from '@jest/globals';
import { reasonOf } from './reason.js';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });

test.each([
  ['an error', new Error('no\n  room'), 'no room'],
  ['a failed fetch', new TypeError('fetch failed', { cause: refused }), refused.message],
  [
    'an error of several',
    new AggregateError([refused, refused, new Error('late')]),
    `${refused.message}; late`,
  ],
  [
    'a failed fetch to several addresses',
    new TypeError('fetch failed', { cause: new AggregateError([refused], '') }),
    refused.message,
  ],
  ['an error without a message', Object.assign(new Error(), { code: 'ECONNRESET' }), 'ECONNRESET'],
  ['a thrown text', 'no', 'no'],
])('of %s', (_title, error, reason) => {
  expect(reasonOf(error)).toBe(reason);
});

test('is short, and ends, however long the error is and however deep its causes go', () => {
  expect(reasonOf(new Error('x'.repeat(10_000)))).toHaveLength(501);
  const circular = new TypeError('fetch failed');
  circular.cause = circular;
  expect(reasonOf(circular)).toBe('fetch failed');
});
