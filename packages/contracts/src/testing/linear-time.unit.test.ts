// The check of regular expressions tells slow patterns from others, also where each repetition has a greatest number.
import { expect, test } from '@jest/globals';
import { timeOfPattern } from './linear-time.js';

test.each([
  String.raw`(a+)+$`,
  String.raw`\s+$`,
  String.raw`(a{0,40}){0,40}$`,
  String.raw`a{0,300}a{0,300}a{0,300}$`,
])('%s is slow', (source) => {
  expect(timeOfPattern(source, '')).toMatch(/polynomial|exponential/);
});

test.each([
  String.raw`charset\s{0,10}=\s{0,10}["']?([\w:.-]{1,40})`,
  String.raw`^\s*([a-z-]{1,20})\s*:([^#]*)`,
  String.raw`(?<!\/)\/+$`,
])('%s takes linear time', (source) => {
  expect(timeOfPattern(source, 'i')).toBe('safe');
});
