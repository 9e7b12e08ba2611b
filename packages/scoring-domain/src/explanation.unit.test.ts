// Which decisions explain a score, and which moment an explanation of now is of. services/scoring tests explanations of scores
// that its deciders have made.
import { expect, test } from '@jest/globals';
import { emptyConfiguration } from './configuration.js';
import { explainScore, explainsScore, momentOfNow } from './explanation.js';
import { idOf, leadScored, ouId } from './testing/builders.js';

const scored = leadScored('ada', { rule: 'pricing', points: 5 }, { decided_at: '2026-01-01T12:00:05.000Z' });
const unscored = leadScored('ada', { rule: 'pricing', points: 5, times: 0, previous: 5 });
const adjusted = { ...unscored, score: 3 };

test('a decision explains a score when it scored events, or changed the score without one', () => {
  expect([scored, unscored, adjusted].map(explainsScore)).toEqual([true, false, true]);
});

test('an explanation of now counts a decision of a machine whose clock is ahead', () => {
  const now = new Date('2026-01-01T12:00:00.000Z');
  expect(momentOfNow([scored], now)).toBe(scored.decided_at);
  expect(momentOfNow([], now)).toBe(now.toISOString());
  const none = emptyConfiguration(ouId);
  const lead = { id: idOf('ada'), name: 'Ada', score: scored.score };
  expect(
    explainScore(lead, [scored], none, none, { at: momentOfNow([scored], now), range_hours: 1 }),
  ).toMatchObject({
    score: 5,
    unattributed: 0,
    entries_total: 1,
  });
});
