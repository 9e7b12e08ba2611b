// Which decisions explain a score, and which moment an explanation of now is of. services/scoring tests explanations of scores
// that its deciders have made.
import { describe, expect, test } from '@jest/globals';
import { emptyConfiguration } from './configuration.js';
import { explainScore, momentOfNow } from './explanation.js';
import { explainsScore } from './score-decision.js';
import { idOf, leadScored, ouId, scoreReset } from './testing/builders.js';

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

describe('a reset', () => {
  const time = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();
  const none = emptyConfiguration(ouId);
  const before = leadScored('ada', { rule: 'pricing', points: 5, times: 2 }, { decided_at: time(0) });
  const reset = { ...scoreReset('ada', 10, { decided_at: time(10) }), scored_events: [] };
  const after = leadScored('ada', { rule: 'pricing', points: 3 }, { decided_at: time(20) });
  const explained = (seconds: number, decisions = [before, reset, after]) =>
    explainScore({ id: idOf('ada'), name: 'Ada', score: 3 }, decisions, none, none, {
      at: time(seconds),
      range_hours: 720,
    });

  test('leaves drivers that add up to the score, and the history with a mark', () => {
    expect(explained(30)).toMatchObject({
      score: 3,
      unattributed: 0,
      score_reset_at: time(10),
      top_drivers: [{ count: 1, weight: 3, total: 3 }],
      entries_total: 3,
    });
    expect(explained(30)).not.toHaveProperty('adjustments');
    expect(explained(30).entries.map(({ points, before_reset }) => [points, before_reset])).toEqual([
      [3, undefined],
      [5, true],
      [5, true],
    ]);
  });

  test('does not reach back: before it the score was what it was', () => {
    expect(explained(5)).toMatchObject({ score: 10, unattributed: 0, top_drivers: [{ total: 10 }] });
    expect(explained(5)).not.toHaveProperty('score_reset_at');
    expect(explained(15)).toMatchObject({ score: 0, unattributed: 0, top_drivers: [] });
  });

  test('counts from the decisions on that it took back, where these came from a clock that is ahead', () => {
    const ahead = { ...before, decided_at: time(15) };
    expect(explained(12, [ahead, reset, after])).toMatchObject({ score: 10, unattributed: 0 });
    expect(explained(16, [ahead, reset, after])).toMatchObject({
      score: 0,
      unattributed: 0,
      top_drivers: [],
    });
  });

  test('of a score of 0 is a decision that explains the score', () => {
    expect(explainsScore(scoreReset('ada', 0))).toBe(true);
  });
});
