// Which decisions explain a score, and which moment an explanation of now is of. services/scoring tests explanations of scores
// that its deciders have made.
import { describe, expect, test } from '@jest/globals';
import { routeDeclarations, type records } from '@lead-scoring/contracts';
import { emptyConfiguration } from './configuration.js';
import { explainScore, momentOfNow } from './explanation.js';
import { explainProfile } from './profile-explanation.js';
import { explainsScore } from './score-decision.js';
import { idOf, leadScored, ouId, profileScored, scoreRescored, scoreReset } from './testing/builders.js';

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

describe('a rescoring', () => {
  const time = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();
  const none = emptyConfiguration(ouId);
  const job_id = `scoring-${idOf('rescoring')}`;
  const job = { rescored: { job_id, at: time(10) } };
  const before = leadScored('ada', { rule: 'pricing', points: 5, times: 2 }, { decided_at: time(0) });
  const tick = {
    ...{ decided_at: time(1), configuration_version: 1, scored_events: [] },
    adjustments: [{ reason: 'decay' as const, points: -1, rule_id: idOf('decay'), rule_version: 1, tick: 1 }],
  };
  const rescored = {
    ...scoreRescored(
      'ada',
      9,
      {
        matches: [
          { rule: 'pricing', points: 7, count: 2 },
          { rule: 'careers', points: 4, count: 3, counted: { count: 2, points: 8 } },
        ],
        others: [
          { reason: 'decay', points: -2, rule_id: idOf('decay'), rule_version: 1 },
          { reason: 'held_by_ruleset', points: -3, ruleset_id: idOf('ruleset') },
        ],
      },
      { decided_at: time(10) },
    ),
    scored_events: [],
  };
  const after = leadScored('ada', { rule: 'pricing', points: 7 }, { decided_at: time(20) });
  const all = [before, tick, rescored, after];
  const explained = (seconds: number, { decisions = all, score = 24, range_hours = 720 } = {}) =>
    explainScore({ id: idOf('ada'), name: 'Ada', score }, decisions, none, none, {
      at: time(seconds),
      range_hours,
    });
  const valid = (explanation: ReturnType<typeof explained>) => {
    expect(routeDeclarations.scoreExplanation.safeParse(explanation).error).toBeUndefined();
    return explanation;
  };

  test('begins drivers and adjustments with what it came to, and names its job', () => {
    const shown = valid(explained(30));
    expect(shown).toMatchObject({
      score: 24,
      unattributed: 0,
      ...job,
      top_drivers: [
        { rule_id: idOf('pricing'), count: 3, weight: 7, total: 21 },
        { rule_id: idOf('careers'), count: 3, total: 12, counted: 2, counted_total: 8 },
      ],
      adjustments: [
        { reason: 'capped_by_rule', rule_id: idOf('careers'), points: -4 },
        { reason: 'held_by_ruleset', points: -3 },
        { reason: 'decay', points: -2 },
      ],
    });
    const points = [
      ...shown.top_drivers.map(({ total }) => total),
      ...(shown.adjustments ?? []).map((adjustment) => adjustment.points),
      shown.decay_applied,
    ];
    expect(points.reduce((sum, one) => sum + one, 0)).toBe(shown.score);
  });

  test('keeps the entries of before, and says of them that they count no more', () => {
    const { entries, decay_entries } = valid(explained(30));
    expect(entries.map((entry) => [entry.points, entry.replaced_by])).toEqual([
      [7, undefined],
      [5, job_id],
      [5, job_id],
    ]);
    expect(decay_entries).toMatchObject([{ points: -1, replaced_by: job_id }]);
  });

  test('does not reach back: before it the explanation is what it was then, on both clocks', () => {
    const then = explained(5, { decisions: [before, tick], score: 9 });
    expect(then).toMatchObject({
      score: 9,
      unattributed: 0,
      top_drivers: [{ total: 10 }],
      decay_applied: -1,
    });
    expect(then).not.toHaveProperty('rescored');
    expect(explained(5)).toEqual(then);
    const known_at = time(9);
    expect(
      explainScore({ id: idOf('ada'), name: 'Ada', score: 24 }, all, none, none, {
        at: known_at,
        known_at,
        range_hours: 720,
      }),
    ).toEqual({ ...then, at: known_at, known_at });
  });

  test('counts from the decisions on that it took back, where these came from a clock that is ahead', () => {
    const ahead = { ...before, decided_at: time(15) };
    const decisions = [ahead, tick, rescored, after];
    expect(explained(12, { decisions })).toMatchObject({ score: 9, unattributed: 0 });
    expect(explained(16, { decisions })).toMatchObject({ score: 17, unattributed: 0, ...job });
  });

  test('that came into force before the range gives no drivers in it, as any points of before the range', () => {
    const shown = valid(explained(3_615, { range_hours: 1 }));
    expect(shown).toMatchObject({
      score: 24,
      unattributed: 0,
      top_drivers: [{ count: 1, total: 7 }],
      ...job,
    });
    expect(shown.decay_applied).toBe(0);
  });

  test('and a reset after it: the score begins with nothing, and no longer with the rescoring', () => {
    const reset = { ...scoreReset('ada', 24, { decided_at: time(40) }), scored_events: [] };
    const shown = valid(explained(50, { decisions: [...all, reset], score: 0 }));
    expect(shown).toMatchObject({ score: 0, unattributed: 0, top_drivers: [], score_reset_at: time(40) });
    expect(shown).not.toHaveProperty('rescored');
  });
});

describe('a rescoring of profiles', () => {
  const time = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();
  const none = emptyConfiguration(ouId);
  const met = profileScored('ada', 'vp', { points: 10, decided_at: time(0) });
  const rescored: records.ScoreAdjusted = {
    ...profileScored('ada', 'vp', { previous: 10, points: 5, decided_at: time(10) }),
    rescored: { job_id: idOf('rescoring') },
  };
  const explained = (seconds: number) =>
    explainProfile({ id: idOf('ada'), name: 'Ada', score: 15 }, [met, rescored], none, none, {
      at: time(seconds),
      range_hours: 720,
    });

  test('is an entry that names its job; before it the score is what it was', () => {
    expect(routeDeclarations.scoreExplanation.safeParse(explained(20)).error).toBeUndefined();
    expect(explained(20)).toMatchObject({
      score: 15,
      unattributed: 0,
      top_drivers: [{ rule_id: idOf('vp'), total: 15 }],
      profile_entries: [
        {
          points: 5,
          rescored_by: `scoring-${idOf('rescoring')}`,
          words: expect.stringContaining('was changed from 10 to 15'),
        },
        { points: 10 },
      ],
    });
    expect(explained(5)).toMatchObject({ score: 10, unattributed: 0, top_drivers: [{ total: 10 }] });
    expect(explained(5).profile_entries).toHaveLength(1);
  });
});
