// Numbers, durations and times read as a person would say them.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  clip,
  countInWords,
  dateInWords,
  momentInWords,
  numberInWords,
  rangeInWords,
  shortMoment,
  withSign,
  spanInWords,
} from './words.js';

test('numbers have grouped digits and a true minus sign', () => {
  expect([1_234_567, 0, -5].map(numberInWords)).toEqual(['1,234,567', '0', '−5']);
  expect([30, 0, -1_000].map(withSign)).toEqual(['+30', '0', '−1,000']);
});

test('one is one, everything else is many', () => {
  expect([1, 0, 2, -1].map((count) => countInWords(count, 'point'))).toEqual([
    '1 point',
    '0 points',
    '2 points',
    '−1 point',
  ]);
});

test.each([
  [1, 'the last hour'],
  [24, 'the last 24 hours'],
  [36, 'the last 36 hours'],
  [48, 'the last 2 days'],
  [100, 'the last 4 days and 4 hours'],
  [720, 'the last 30 days'],
])('%d hours are %s', (hours, words) => {
  expect(rangeInWords(hours)).toBe(words);
});

test('a span is told in whole hours and days', () => {
  expect([0.5, 1, 24, 167.99, 168].map(spanInWords)).toEqual([
    'less than an hour',
    '1 hour',
    '1 day',
    '6 days and 23 hours',
    '7 days',
  ]);
});

test('times are told in UTC, whatever the zone of the machine', () => {
  expect(momentInWords('2026-11-21T23:59:59.999Z')).toBe('21 November 2026, 23:59 UTC');
  expect(dateInWords('2026-11-21T00:00:00.000Z')).toBe('21 November 2026');
  expect(shortMoment('2026-09-01T00:05:00.000Z', true)).toBe('1 Sep, 00:05');
  expect(shortMoment('2026-09-01T00:05:00.000Z', false)).toBe('1 Sep');
});

test('a clipped text is never too long and never ends in half a character', () => {
  expect(clip('Family 👩‍👩‍👧‍👦 trip', 10)).toBe('Family…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, maximum) => {
      const kept = clip(text, maximum);
      expect(kept.length).toBeLessThanOrEqual(maximum);
      expect(kept.isWellFormed()).toBe(text.isWellFormed());
      if (text.length <= maximum) expect(kept).toBe(text);
    }),
  );
});
