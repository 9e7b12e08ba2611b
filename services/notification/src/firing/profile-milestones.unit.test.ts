// Milestones of profile and deal scores, and firings on changes of a score that no event caused.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import {
  levelHolding,
  levelsOfScore,
  type ScoreDecision,
  type ScoreLevels,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import {
  compileTriggers,
  concernsScored,
  decideScored,
  evolveLead,
  type FiringDraft,
  initialLeadState,
  type LeadState,
  type MilestoneTrigger,
  type Trigger,
} from '@lead-scoring/scoring-domain/triggers';
import {
  act,
  configurationOf,
  dealScored,
  idOf,
  leadId,
  leadScored,
  levelsFrom,
  milestone,
  milestoneAt,
  ouId,
  profileScored,
  scoredAt,
  scoreRescored,
  scoreReset,
  second,
  surge,
} from '../testing/firing-builders.js';

interface Run {
  events: FiringDraft[];
  state: LeadState;
}

const levels: ScoreLevels = {
  levels: levelsFrom([
    ['Cold', null],
    ['Hot', 20],
  ]),
  profile_levels: levelsFrom([
    ['Poor fit', null],
    ['Good fit', 20],
    ['Best fit', 40],
  ]),
};

/** Firing's decisions on these decisions of scoring, one after the other. */
function decided(
  triggers: readonly Trigger[],
  scored: readonly ScoreDecision[],
  run: Run = { events: [], state: initialLeadState(ouId, leadId) },
): Run {
  const compiled = compileTriggers(configurationOf(triggers), levels);
  return scored.reduce<Run>(({ events, state }, payload, index) => {
    if (!concernsScored(payload, compiled)) return { events, state };
    const offset = Math.max(index, state.seen['scoring.events'] + 1);
    const decision = decideScored(payload, scoredAt(offset), state, compiled);
    return { events: [...events, ...decision.events], state: decision.state };
  }, run);
}

const ofProfile = { score_type: 'profile' } as const;
/** Profile scores, one after the other. */
const scores = (...values: number[]) =>
  values.map((score, index) => profileScored(values[index - 1] ?? 0, score, index));
const firedAt = ({ events }: Run) =>
  events.flatMap(({ type, payload }) => (type === 'MilestoneFired' ? [payload.score] : []));
const anyDirection = fc.constantFrom('up' as const, 'down' as const);

describe('a milestone of the profile score', () => {
  test.each<[string, Partial<MilestoneTrigger>, number[], number[]]>([
    ['fires when the score reaches the threshold', {}, [20, 100], [100]],
    ['does not fire again while the score is above', {}, [100, 120, 110], [100]],
    ['fires again once the score was below', {}, [100, 50, 130], [100, 130]],
    ['downwards, fires when the score falls below', { direction: 'down' }, [120, 99, 90], [99]],
    [
      'is re-armed at its own bound',
      { rearm: { below: 40, cooldown_seconds: 0 } },
      [100, 50, 110, 30, 120],
      [100, 120],
    ],
    ['is silent during its cooldown', { rearm: { cooldown_seconds: 60 } }, [100, 10, 100], [100]],
  ])('%s', (_, more, path, expected) => {
    expect(firedAt(decided([milestone({ ...ofProfile, ...more })], scores(...path)))).toEqual(expected);
  });

  test('does not fire on engagement scores, nor an engagement milestone on profile scores', () => {
    const events = leadScored([act('view', 'Page View', 0, 150)], 0, 0);
    expect(decided([milestone(ofProfile)], [events]).events).toEqual([]);
    expect(decided([milestone(), surge({ threshold: 1 })], scores(150)).events).toEqual([]);
  });

  test('says that no event caused it, why, which rules changed, and both scores', () => {
    const { events } = decided([milestone(ofProfile)], [profileScored(80, 100, 7)]);
    expect(events).toMatchObject([
      {
        type: 'MilestoneFired',
        payload: {
          ...{ score_type: 'profile', previous_score: 80, score: 100, threshold: 100, direction: 'up' },
          cause: {
            event_id: null,
            event_type: null,
            reason: 'profile',
            rule_ids: [idOf('profile rule')],
            timestamp: second(7),
          },
        },
      },
    ]);
  });

  test('has the same firing id when it is decided again, and another for another decision', () => {
    const idsOf = (...path: number[]) =>
      decided([milestone(ofProfile)], scores(...path)).events.flatMap(({ type, payload }) =>
        type === 'MilestoneFired' ? [payload.firing_id] : [],
      );
    expect(idsOf(100, 0, 100)).toEqual(idsOf(100, 0, 100));
    expect(new Set(idsOf(100, 0, 100)).size).toBe(2);
  });

  test('by level, crosses the bounds of profile levels and names these', () => {
    const { events } = decided([milestoneAt('good fit', ofProfile)], [profileScored(10, 45, 0)]);
    expect(events).toMatchObject([
      {
        payload: {
          ...{ threshold: 20, threshold_level: 'Good fit' },
          ...{ previous_level: 'Poor fit', level: 'Best fit' },
        },
      },
    ]);
    const down = milestoneAt('Best fit', { ...ofProfile, direction: 'down' });
    expect(firedAt(decided([down], scores(60, 30, 50, 45)))).toEqual([30]);
  });

  test('does not fire for imported history, which re-arms it', () => {
    const trigger = milestone({ ...ofProfile, rearm: { below: 40, cooldown_seconds: 0 } });
    const [first, back, again] = scores(100, 10, 120);
    if (!first || !back || !again) throw new Error('there are three');
    const imported = { ...back, fire_triggers: false };
    expect(firedAt(decided([trigger], [{ ...first, fire_triggers: false }]))).toEqual([]);
    expect(firedAt(decided([trigger], [first, imported, again]))).toEqual([100, 120]);
  });
});

describe('a milestone of the deal score', () => {
  const ofDeal = { score_type: 'deal' } as const;

  test('fires once when the score reaches the threshold, says that a deal did it, and again once it was below', () => {
    const path = [80, 100, 130, 60, 110].map((score, index, all) =>
      dealScored(all[index - 1] ?? 0, score, index),
    );
    const { events, state } = decided([milestone(ofDeal)], path);
    expect(events).toMatchObject([
      {
        type: 'MilestoneFired',
        payload: {
          ...{ score_type: 'deal', previous_score: 80, score: 100, threshold: 100 },
          cause: { event_id: null, event_type: null, reason: 'deal', rule_ids: [idOf('deal rule')] },
        },
      },
      { payload: { score: 110 } },
    ]);
    const compiled = compileTriggers(configurationOf([milestone(ofDeal)]), levels);
    for (const [offset, payload] of path.entries())
      expect(decideScored(payload, scoredAt(offset), state, compiled)).toEqual({ events: [], state });
  });

  test('does not fire on other scores, nor their milestones on deal scores, nor for imported history', () => {
    const other = [profileScored(0, 150, 0), leadScored([act('view', 'Page View', 0, 150)], 0, 1)];
    expect(decided([milestone(ofDeal)], other).events).toEqual([]);
    const others = [milestone(), milestone(ofProfile, 'fit'), surge({ threshold: 1 })];
    expect(decided(others, [dealScored(0, 150, 0)]).events).toEqual([]);
    expect(decided([milestone(ofDeal)], [dealScored(0, 150, 0, { fire_triggers: false })]).events).toEqual(
      [],
    );
  });
});

describe('a change of the engagement score that no event caused', () => {
  const faded = (previous: number, score: number, takenAt: number) =>
    profileScored(previous, score, takenAt, {
      score_type: 'engagement',
      adjustments: [{ reason: 'decay', points: score - previous }],
    });
  const down = milestone({ direction: 'down' }, 'down');

  test('makes milestones fire, with the reason in place of an event', () => {
    expect(decided([down], [faded(120, 90, 3)]).events).toMatchObject([
      { payload: { score: 90, cause: { event_id: null, event_type: null, reason: 'decay', rule_ids: [] } } },
    ]);
  });

  test('makes no milestone of an event type fire, and no surge', () => {
    const named = milestone({ direction: 'down', event_type: 'Page View' });
    expect(decided([named, surge({ threshold: 1 })], [faded(120, 90, 3), faded(90, 130, 4)]).events).toEqual(
      [],
    );
  });

  test('that fires no triggers makes none fire', () => {
    expect(decided([down], [scoreReset(120, 3)]).events).toEqual([]);
  });
});

describe('a rescoring', () => {
  const up = milestone({ rearm: { below: 50, cooldown_seconds: 0 } });
  const rise = leadScored([act('rise', 'Page View', 20, 20)], 90, 20);
  const viewed = (previous: number, at: number) =>
    leadScored([act(`view at ${String(at)}`, 'Page View', at, 20)], previous, at);

  test('fires nothing, whatever it crosses, upwards and downwards', () => {
    const down = milestone({ direction: 'down' }, 'down');
    expect(decided([up, down], [scoreRescored(20, 130, 3), scoreRescored(130, 20, 4)]).events).toEqual([]);
  });

  test('that took a lead above a milestone: the next points there are no crossing', () => {
    expect(firedAt(decided([up], [scoreRescored(20, 130, 3), viewed(130, 4)]))).toEqual([]);
  });

  test('that took a lead below a milestone that had fired re-arms it silently', () => {
    const fired = decided([up], [rise]);
    expect(firedAt(fired)).toEqual([110]);
    const silent = decided([up], [scoreRescored(110, 30, 21)], fired);
    expect(silent.events.slice(fired.events.length).map(({ type }) => type)).toEqual(['TriggerRearmed']);
    expect(firedAt(decided([up], [viewed(85, 22)], silent))).toEqual([110, 105]);
  });

  test.each(['engagement', 'profile'] as const)(
    'of %s scores that was asked to fire triggers fires where the new score crosses, and says why',
    (score_type) => {
      const asked = { score_type, fire_triggers: true };
      const { events } = decided([milestone({ score_type })], [scoreRescored(20, 130, 3, asked)]);
      expect(events).toMatchObject([
        {
          type: 'MilestoneFired',
          payload: {
            ...{ previous_score: 20, score: 130 },
            cause: {
              event_id: null,
              event_type: null,
              reason: 'rescoring',
              rule_ids: [],
              timestamp: second(3),
            },
          },
        },
      ]);
    },
  );
});

describe('for any milestones and any changes of all scores,', () => {
  const anyMilestone = fc
    .record({
      score_type: fc.constantFrom('engagement' as const, 'profile' as const, 'deal' as const),
      score_threshold: fc.integer({ min: -10, max: 50 }),
      level: fc.constantFrom(null, null, 'Hot', 'Good fit'),
      direction: anyDirection,
      gap: fc.integer({ min: 0, max: 20 }),
      cooldown_seconds: fc.constantFrom(0, 0, 7),
    })
    .map(({ score_threshold, level, gap, direction, score_type, cooldown_seconds }) => {
      const more = {
        direction,
        score_type,
        rearm: {
          cooldown_seconds,
          ...(direction === 'up' ? { below: score_threshold - gap } : { above: score_threshold + gap }),
        },
      };
      return level === null ? milestone({ ...more, score_threshold }) : milestoneAt(level, more);
    });
  const triggersOf = fc
    .array(anyMilestone, { minLength: 1, maxLength: 5 })
    .map((all) => all.map((one, index) => ({ ...one, id: idOf(`t${String(index)}`) })));
  const anyChanges = fc
    .array(
      fc.record({
        score_type: fc.constantFrom('engagement' as const, 'profile' as const, 'deal' as const),
        points: fc.integer({ min: -40, max: 40 }),
      }),
      { maxLength: 18 },
    )
    .map((changes) => {
      const known = { engagement: 0, profile: 0, deal: 0 };
      return changes.map(({ score_type, points }, index): ScoreDecision => {
        const before = known[score_type];
        known[score_type] += points;
        if (score_type === 'profile') return profileScored(before, before + points, index);
        if (score_type === 'deal') return dealScored(before, before + points, index);
        return leadScored([act(`e${String(index)}`, 'Page View', index, points)], before, index);
      });
    });

  test('a plain reference implementation fires for the same changes', () => {
    fc.assert(
      fc.property(anyMilestone, anyChanges, (trigger, changes) => {
        const { score_type, score_threshold, level, direction, rearm } = trigger;
        const list = score_type === 'account' ? [] : levelsOfScore(levels, score_type);
        const named = list.find(({ name }) => name.toLowerCase() === level?.toLowerCase());
        const line = score_threshold ?? named?.min_score ?? NaN;
        const expected: number[] = [];
        let armed = true;
        let last = -Infinity;
        changes.forEach((decision, at) => {
          if (('score_type' in decision ? decision.score_type : 'engagement') !== score_type) return;
          const { previous_score: before, score } = decision;
          const crosses =
            direction === 'up' ? before < line && score >= line : before >= line && score < line;
          const isArmed =
            armed || (direction === 'up' ? before < (rearm.below ?? line) : before >= (rearm.above ?? line));
          if (crosses && isArmed && at >= last + rearm.cooldown_seconds) {
            expected.push(score);
            [armed, last] = [false, at];
          }
          if (direction === 'up' ? score < (rearm.below ?? line) : score >= (rearm.above ?? line))
            armed = true;
        });
        expect(firedAt(decided([trigger], changes))).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test('replay equals live, a repeated record changes nothing, and every event matches its declaration', () => {
    const described = { lead: { id: leadId, name: 'Ada', aliases: [] }, level: null, top_drivers: [] };
    fc.assert(
      fc.property(triggersOf, anyChanges, (triggers, changes) => {
        const { events, state } = decided(triggers, changes);
        expect(events.reduce(evolveLead, initialLeadState(ouId, leadId))).toEqual(state);
        const compiled = compileTriggers(configurationOf(triggers), levels);
        changes.forEach((payload) => {
          const again = decideScored(payload, scoredAt(state.seen['scoring.events']), state, compiled);
          expect(again).toEqual({ events: [], state });
        });
        for (const { type, payload } of events) {
          if (type !== 'MilestoneFired') continue;
          const fired = records.milestoneFired.schema.parse({ ...described, ...payload });
          if (fired.previous_level === undefined) continue;
          const list = levelsOfScore(levels, fired.score_type);
          expect(fired.level).toBe(levelHolding(list, fired.score)?.name ?? null);
        }
      }),
    );
  });
});
