// The history of a score tells at each of its points what the explanation of that moment tells.
import { describe, expect, test } from '@jest/globals';
import { largestScore, routeDeclarations } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { emptyConfiguration } from '../configuration.js';
import { explainDeals } from '../deal-explanation.js';
import { explainScore, type ExplainedDecision } from '../explanation.js';
import { levelHolding } from '../levels.js';
import { explainProfile } from '../profile-explanation.js';
import {
  idOf,
  leadScored,
  levelsSet,
  ouId,
  profileScored,
  scoreRescored,
  scoreReset,
} from '../testing/builders.js';
import { changesOfConditions, changesOfScore } from './changes.js';
import { historyOfScore, type HistoryRequest } from './score-history.js';

const hour = (count: number) => new Date(Date.UTC(2026, 2, 28, count)).toISOString();
const { levels } = levelsSet([
  ['Cold', null, 9],
  ['Warm', 10, 19],
  ['Hot', 20, null],
]);
const configuration = { ...emptyConfiguration(ouId), levels, profile_levels: levels };

const request = (more: Partial<HistoryRequest> = {}): HistoryRequest => ({
  score_type: 'engagement',
  granularity: 'day',
  timezone: 'Europe/Berlin',
  latest: hour(96),
  ...more,
});
const ada = (score: number) => ({ id: idOf('ada'), name: 'Ada', score });

/** The history, in the declared form. */
function history(score: number, decisions: readonly ExplainedDecision[], more: Partial<HistoryRequest> = {}) {
  const told = historyOfScore(ada(score), changesOfScore(decisions), configuration, request(more));
  expect(routeDeclarations.scoreHistory.safeParse(told).error).toBeUndefined();
  return told;
}

describe('the history of a score', () => {
  const decisions = [
    leadScored('ada', { rule: 'view', points: 12 }, { decided_at: hour(-100) }),
    leadScored('ada', { rule: 'view', points: 15, previous: 12 }, { decided_at: hour(30) }),
    leadScored('ada', { rule: 'careers', points: -4, previous: 27 }, { decided_at: hour(31) }),
  ];

  test('has a point for each day, also for those without events, and bands for its levels', () => {
    expect(history(23, decisions, { from: '2026-03-28', to: '2026-03-31' })).toEqual({
      lead_id: idOf('ada'),
      lead_name: 'Ada',
      score_type: 'engagement',
      granularity: 'day',
      timezone: 'Europe/Berlin',
      from: '2026-03-27T23:00:00.000Z',
      to: '2026-03-30T21:59:59.999Z',
      score_before: 12,
      score: 23,
      level: { id: idOf('Hot'), name: 'Hot', color: '#e8590c' },
      levels,
      points: [
        {
          label: '2026-03-28',
          starts_at: '2026-03-27T23:00:00.000Z',
          at: '2026-03-28T22:59:59.999Z',
          added: 0,
          taken: 0,
          score: 12,
        },
        {
          label: '2026-03-29',
          starts_at: '2026-03-28T23:00:00.000Z',
          at: '2026-03-29T21:59:59.999Z',
          added: 15,
          taken: -4,
          score: 23,
        },
        {
          label: '2026-03-30',
          starts_at: '2026-03-29T22:00:00.000Z',
          at: '2026-03-30T21:59:59.999Z',
          added: 0,
          taken: 0,
          score: 23,
        },
      ],
    });
  });

  test('an event of the last millisecond of a day is of that day, and one of the next millisecond of the next day', () => {
    const at = (decided_at: string) => leadScored('ada', { rule: 'view', points: 1 }, { decided_at });
    const around = [at('2026-03-29T21:59:59.999Z'), at('2026-03-29T22:00:00.000Z')];
    const { points } = history(2, around, { from: '2026-03-29', to: '2026-03-31' });
    expect(points.map(({ added, score }) => [added, score])).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });

  test('by hour an imported history is where its events were; known before the import it is not there', () => {
    const imported = decisions.map((decision) => ({ ...decision, decided_at: hour(90) }));
    const asked = { granularity: 'hour', from: hour(30), to: hour(32) } as const;
    expect(history(23, imported, asked).points.map(({ score }) => score)).toEqual([27, 23]);
    expect(history(23, imported, { ...asked, known_at: hour(89) })).toMatchObject({
      known_at: hour(89),
      score_before: 0,
      score: 0,
    });
  });

  test('a score beyond the range of scores, in the order of the events, is held in it', () => {
    const late = [
      leadScored('ada', { rule: 'view', points: largestScore }, { decided_at: hour(50) }),
      leadScored('ada', { rule: 'careers', points: -9 }, { decided_at: hour(60) }),
      { ...leadScored('ada', { rule: 'view', points: 9 }, { decided_at: hour(70) }) },
    ].map((decision, index) => ({
      ...decision,
      scored_events: decision.scored_events.map((event) => ({
        ...event,
        timestamp: hour([50, 60, 55][index] ?? 0),
      })),
    }));
    const asked = { granularity: 'hour', from: hour(50), to: hour(61) } as const;
    expect(new Set(history(largestScore, late, asked).points.map(({ score }) => score))).toEqual(
      new Set([largestScore]),
    );
  });
});

/** Any decisions: on events of any age, also dated ahead; held points, fading, resets, rescorings; on clocks that go before one another. */
const anyDecision = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      decided: fc.integer({ min: 0, max: 96 }),
      events: fc.array(
        fc.record({
          points: fc.integer({ min: -9, max: 9 }),
          held: fc.constantFrom(0, 0, -2),
          at: fc.integer({ min: -60, max: 120 }),
        }),
        { maxLength: 3 },
      ),
      beyond: fc.constantFrom(0, 0, -3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ decided: fc.integer({ min: 0, max: 96 }), reset: fc.constant(true) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      decided: fc.integer({ min: 0, max: 96 }),
      rescored: fc.integer({ min: -9, max: 30 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      decided: fc.integer({ min: 0, max: 96 }),
      tick: fc.integer({ min: -60, max: 120 }),
      faded: fc.integer({ min: -9, max: -1 }),
    }),
  },
);
type AnyDecision = typeof anyDecision extends fc.Arbitrary<infer One> ? One : never;

/** The decisions as scoring records them, with the score that they lead to. */
function recorded(all: readonly AnyDecision[]): { score: number; decisions: ExplainedDecision[] } {
  let score = 0;
  const decisions = all.map((one, index): ExplainedDecision => {
    const of = { decided_at: hour(one.decided), configuration_version: 1 };
    if ('reset' in one) {
      const reset = scoreReset('ada', score, of);
      score = 0;
      return { ...reset, scored_events: [] };
    }
    if ('rescored' in one) {
      const matches = [{ rule: 'view', points: one.rescored, count: 1 }];
      const rescored = scoreRescored('ada', score, { matches }, of);
      score = one.rescored;
      return { ...rescored, scored_events: [] };
    }
    if ('tick' in one) {
      score += one.faded;
      const decay = {
        reason: 'decay' as const,
        points: one.faded,
        rule_id: idOf('decay'),
        rule_version: 1,
        tick: 1,
      };
      return { ...of, as_of: hour(one.tick), scored_events: [], adjustments: [decay] };
    }
    const scored_events = one.events.map(({ points, held, at }, nth) => ({
      event_id: idOf(`${String(index)} ${String(nth)}`),
      event_type: 'Page View',
      timestamp: hour(at),
      matches: [
        {
          rule_id: idOf('view'),
          rule_version: 1,
          ruleset_id: idOf('ruleset'),
          points,
          ...(held !== 0 && { counted_points: points + held }),
        },
      ],
    }));
    const held = one.events.reduce((sum, event) => sum + event.held, 0);
    score += one.events.reduce((sum, event) => sum + event.points + event.held, 0) + one.beyond;
    const adjustments = [
      ...(held === 0 ? [] : [{ reason: 'capped_by_rule' as const, points: held }]),
      ...(one.beyond === 0 ? [] : [{ reason: 'held_at_largest_score' as const, points: one.beyond }]),
    ];
    return { ...of, scored_events, ...(adjustments.length > 0 && { adjustments }) };
  });
  return { score, decisions };
}

describe('at each of its points, on both clocks', () => {
  const asked = fc.record({
    granularity: fc.constantFrom('hour', 'day'),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe'),
    from: fc.integer({ min: -40, max: 50 }).map(hour),
    to: fc.option(fc.integer({ min: 50, max: 130 }).map(hour), { nil: undefined }),
    known_at: fc.option(fc.integer({ min: 0, max: 96 }).map(hour), { nil: undefined }),
  });

  test('is the score and the level of the explanation at that moment, and the points in between lead from one to the next', () => {
    fc.assert(
      fc.property(fc.array(anyDecision, { maxLength: 25 }), asked, (all, more) => {
        const { score, decisions } = recorded(all);
        const { known_at } = more;
        const told = history(score, decisions, { ...more, latest: known_at ?? hour(96) });
        const explained = (at: string) =>
          explainScore(ada(score), decisions, configuration, configuration, { at, known_at, range_hours: 1 });
        const before = new Date(Date.parse(told.from) - 1).toISOString();
        expect(told.score_before).toBe(explained(before).score);
        let total = told.score_before;
        for (const { at, added, taken, score: then } of told.points) {
          total += added + taken;
          expect({ at, total, then }).toEqual({ at, total: explained(at).score, then: total });
        }
        expect(told.score).toBe(total);
        expect(told.level).toEqual(explained(told.to).level);
        expect(told.level?.id).toBe(levelHolding(told.levels, told.score)?.id);
      }),
    );
  });

  test('now is the score of the lead', () => {
    fc.assert(
      fc.property(fc.array(anyDecision, { maxLength: 25 }), (all) => {
        const { score, decisions } = recorded(all);
        expect(history(score, decisions).score).toBe(score);
      }),
    );
  });

  test('is the profile or deal score of the explanation, by the times of its decisions', () => {
    const decided = fc.record({
      hours: fc.integer({ min: 0, max: 96 }),
      points: fc.integer({ min: -9, max: 9 }),
    });
    fc.assert(
      fc.property(fc.array(decided, { maxLength: 20 }), asked, (all, more) => {
        const decisions = [...all]
          .sort((one, other) => one.hours - other.hours)
          .map(({ hours, points }) => profileScored('ada', 'vp', { points, decided_at: hour(hours) }));
        const score = all.reduce((sum, { points }) => sum + points, 0);
        const { known_at } = more;
        for (const [score_type, explain] of [
          ['profile', explainProfile],
          ['deal', explainDeals],
        ] as const) {
          const told = historyOfScore(
            ada(score),
            changesOfConditions(decisions),
            configuration,
            request({ ...more, score_type, latest: known_at ?? hour(96) }),
          );
          expect(told.levels).toEqual(score_type === 'deal' ? [] : levels);
          for (const { at, score: then } of told.points) {
            const moment = known_at !== undefined && known_at < at ? known_at : at;
            expect({ at, then }).toEqual({
              at,
              then: explain(ada(score), decisions, configuration, configuration, {
                at: moment,
                range_hours: 1,
              }).score,
            });
          }
        }
      }),
    );
  });
});
