// The outcomes by which the events of a request are counted.
import { expect, test } from '@jest/globals';
import { ProblemError } from '@lead-scoring/service';
import { countOutcome } from './event-metrics.js';

const overQuota = new ProblemError(429, 'quota_used_up', 'The quota of events is used up.');

test.each([
  ['accepted', 'written events', () => Promise.resolve(['position'])],
  ['over_quota', 'events without room in a quota', () => Promise.reject(overQuota)],
  ['not_written', 'events that the log has not taken', () => Promise.reject(new Error('no broker'))],
])('%s: %s, with the outcome of the write', async (outcome, _, write) => {
  const reported: string[] = [];
  const counted = countOutcome<string[]>(write(), (one) => {
    reported.push(one);
  });
  const [expected, actual] = await Promise.allSettled([write(), counted]);
  expect(actual).toEqual(expected);
  expect(reported).toEqual([outcome]);
});
