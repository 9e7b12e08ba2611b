// The points that an explanation lists add up to the score, now and at any past moment of either clock.
import { describe, expect, test } from '@jest/globals';
import { routeDeclarations } from '@lead-scoring/contracts';
import {
  type ExplainedDecision,
  explainScore,
  momentOfNow,
  packConfiguration,
  publicExplanation,
  unpackConfiguration,
  withRules,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { decideScore } from '../scores/decide.js';
import { compileRules } from '../scores/rule-model.js';
import { createRule, createRuleset, idOf, ingested, setLevels, setRulesActive } from '../testing/builders.js';
import { configured } from '../testing/configured.js';

const weights: Record<string, number> = { pricing: 15, careers: -20, open: 1 };
const rules = configured(
  createRuleset('Intent'),
  ...Object.entries(weights).map(([name, weight]) =>
    createRule(name, {
      weight,
      label: name,
      ruleset_id: idOf('Intent'),
      filters: name === 'pricing' ? [{ field: 'path', operator: 'contains', value: '/pricing' }] : [],
    }),
  ),
);

const hour = (hours: number) => new Date(Date.UTC(2026, 0, 10) + hours * 3_600_000).toISOString();

function decision(
  decidedHour: number,
  events: [rule: string, eventHour: number][],
  pointsOf = weights,
): ExplainedDecision {
  return {
    decided_at: hour(decidedHour),
    configuration_version: 4,
    scored_events: events.map(([rule, eventHour], index) => ({
      event_id: idOf(`${rule} ${String(decidedHour)} ${String(index)}`),
      event_type: 'Page View',
      timestamp: hour(eventHour),
      matches: [
        { rule_id: idOf(rule), rule_version: 1, ruleset_id: idOf('Intent'), points: pointsOf[rule] ?? 0 },
      ],
    })),
  };
}

const lead = (decisions: ExplainedDecision[]) => ({
  id: idOf('ada'),
  name: 'Ada',
  score: decisions
    .flatMap(({ scored_events }) => scored_events.flatMap(({ matches }) => matches))
    .reduce((sum, { points }) => sum + points, 0),
});

const explained = (decisions: ExplainedDecision[], at = hour(100), range_hours = 720, then = rules) => {
  const explanation = explainScore(lead(decisions), decisions, rules, then, { at, range_hours });
  expect(routeDeclarations.scoreExplanation.safeParse(explanation).error).toBeUndefined();
  return explanation;
};

/** What the system would have said at that moment. */
const asKnown = (decisions: ExplainedDecision[], known_at: string, at = known_at) =>
  explainScore(lead(decisions), decisions, rules, rules, { at, known_at, range_hours: 720 });

describe('an explanation', () => {
  const decisions = [
    decision(1, [
      ['open', 1],
      ['open', 1],
      ['pricing', 1],
    ]),
    decision(5, [
      ['careers', 4],
      ['open', 5],
    ]),
  ];

  test('lists drivers by their points, positive and negative, with the rule in words', () => {
    expect(explained(decisions).top_drivers).toEqual([
      {
        rule_id: idOf('careers'),
        event_type: 'Page View',
        count: 1,
        weight: -20,
        total: -20,
        label: 'careers',
        rule_version: 1,
      },
      {
        rule_id: idOf('pricing'),
        event_type: 'Page View',
        count: 1,
        weight: 15,
        total: 15,
        filter_label: 'path contains "/pricing"',
        label: 'pricing',
        rule_version: 1,
      },
      {
        rule_id: idOf('open'),
        event_type: 'Page View',
        count: 3,
        weight: 1,
        total: 3,
        label: 'open',
        rule_version: 1,
      },
    ]);
  });

  test('at a past moment counts the events up to then, whenever they were decided', () => {
    expect(explained(decisions, hour(1))).toMatchObject({ score: 17, unattributed: 0, entries_total: 3 });
    expect(explained(decisions, hour(0))).toMatchObject({
      score: 0,
      unattributed: 0,
      entries: [],
      top_drivers: [],
    });
    expect(explained(decisions, hour(4)).score).toBe(-3);
    expect(explained(decisions, hour(5)).score).toBe(-2);
  });

  test('known at a past moment counts the decisions up to then', () => {
    const known = (hours: number, at = hours) => asKnown(decisions, hour(hours), hour(at));
    expect(known(4)).toMatchObject({ score: 17, unattributed: 0, entries_total: 3, known_at: hour(4) });
    expect(known(5)).toMatchObject({ score: -2, unattributed: 0, entries_total: 5 });
    expect(known(0).score).toBe(0);
    expect([known(5, 4), known(4, 100), known(0, 100)].map(({ score }) => score)).toEqual([-3, 17, 0]);
  });

  test('an imported history changes the past of the events, and not what was known', () => {
    const imported = [...decisions, decision(50, [['pricing', -200]])];
    expect(explained(imported, hour(-100), 720).score).toBe(15);
    expect(explained(imported, hour(1)).score).toBe(32);
    for (const hours of [0, 1, 5, 49])
      expect(asKnown(imported, hour(hours))).toEqual(asKnown(decisions, hour(hours)));
  });

  test('an event dated after its decision counts from the decision on', () => {
    const ahead = [decision(5, [['open', 20]])];
    expect([4, 5, 100].map((hours) => explained(ahead, hour(hours)).score)).toEqual([0, 1, 1]);
    expect(explained(ahead, hour(5)).entries[0]?.timestamp).toBe(hour(20));
  });

  test('points of a decision without an event count from the moment that it is about', () => {
    const held = { reason: 'held_at_largest_score' as const, points: -4 };
    const [first] = decisions;
    if (!first) throw new Error('there is a decision');
    const late = { ...first, decided_at: hour(9), scored_events: [], adjustments: [held] };
    const scoreAt = (hours: number, as_of?: string) =>
      explainScore({ id: idOf('ada'), name: 'Ada', score: 13 }, [first, { ...late, as_of }], rules, rules, {
        at: hour(hours),
        range_hours: 720,
      }).score;
    expect([8, 9].map((hours) => scoreAt(hours))).toEqual([17, 13]);
    expect([2, 3].map((hours) => scoreAt(hours, hour(3)))).toEqual([17, 13]);
    expect([8, 9].map((hours) => scoreAt(hours, hour(30)))).toEqual([17, 13]);
  });

  test('a score beyond the range of scores, in the order of the events, is held in it and says so', () => {
    const large = { ...weights, pricing: 2_000_000_000, careers: -2_000_000_000 };
    const all = [
      decision(10, [['careers', 9]], large),
      decision(11, [['pricing', 1]], large),
      decision(12, [['pricing', 2]], large),
    ];
    const explanation = explainScore(
      { id: idOf('ada'), name: 'Ada', score: 2_000_000_000 },
      all,
      rules,
      rules,
      {
        at: hour(5),
        range_hours: 720,
      },
    );
    expect(explanation).toMatchObject({
      score: 2_147_483_647,
      unattributed: 0,
      adjustments: [
        { reason: 'held_at_largest_score', points: 2_147_483_647 - 4_000_000_000, last_at: hour(5) },
      ],
    });
    expect(routeDeclarations.scoreExplanation.safeParse(explanation).error).toBeUndefined();
  });

  test('shows the entries within the range by event time, newest first; the score counts all entries', () => {
    const { entries, entries_total, score, unattributed } = explained(decisions, hour(6), 2);
    expect(entries.map(({ rule_id, timestamp }) => [rule_id, timestamp])).toEqual([
      [idOf('open'), hour(5)],
      [idOf('careers'), hour(4)],
    ]);
    expect([entries_total, score, unattributed]).toEqual([2, -2, 0]);
  });

  test('shows the weights of the rules that were active then', () => {
    const off = configured(
      createRule('a', { weight: 3 }),
      createRule('b', { weight: 4 }),
      setRulesActive(['a'], false),
    );
    expect(explained([], hour(1), 1, off).snapshot).toEqual([{ event_type: 'Page View', weight: 4 }]);
  });

  test('names the level of the score then, by the given levels', () => {
    const then = configured(
      setLevels([
        ['Cold', null, 9],
        ['Warm', 10, null],
      ]),
    );
    const levelAt = (hours: number) => explained(decisions, hour(hours), 1, then).level?.name;
    expect([levelAt(0), levelAt(1), levelAt(5)]).toEqual(['Cold', 'Warm', 'Cold']);
    expect(explained(decisions).level).toBeNull();
  });

  test('has no level in its public form, which has no field for it', () => {
    const then = configured(setLevels([['Any', null, null]]));
    const shown = publicExplanation(explained(decisions, hour(1), 1, then));
    expect(routeDeclarations.publicScoreExplanation.safeParse(shown).error).toBeUndefined();
    expect(JSON.stringify(shown)).not.toContain('Any');
  });

  test('reports points of the score that no entry explains', () => {
    const explanation = explainScore(
      { ...lead(decisions), score: lead(decisions).score + 7 },
      decisions,
      rules,
      rules,
      { at: hour(100), range_hours: 720 },
    );
    expect(explanation.unattributed).toBe(7);
  });

  test('the largest range reaches back before the year 0 without failing', () => {
    expect(explained(decisions, '0000-01-02T00:00:00.000Z', 876_000).score).toBe(0);
  });

  test('shows at most a thousand entries, and counts all of them', () => {
    const many = [
      decision(
        1,
        Array.from({ length: 1_500 }, (): [string, number] => ['open', 1]),
      ),
    ];
    const { entries, entries_total, top_drivers } = explained(many);
    expect([entries.length, entries_total, top_drivers[0]?.count]).toEqual([1_000, 1_500, 1_500]);
  });

  /** Decisions in the order of the log, each an hour or more after the one before. */
  const event = fc.tuple(fc.constantFrom('pricing', 'careers', 'open'), fc.integer({ min: -50, max: 60 }));
  const one = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.array(event, { minLength: 1, maxLength: 5 }));
  const log = fc.array(one, { maxLength: 10 }).map((parts) => {
    let decided = 0;
    return parts.map(([after, events]) => decision((decided += after), events));
  });
  const moment = fc.integer({ min: -51, max: 100 }).map(hour);

  test('adds up at every moment of both clocks', () => {
    fc.assert(
      fc.property(log, moment, fc.option(moment, { nil: undefined }), (all, at, known_at) => {
        const explanation = explainScore(lead(all), all, rules, rules, {
          at,
          known_at,
          range_hours: 876_000,
        });
        expect(explanation.unattributed).toBe(0);
        expect(explanation.top_drivers.reduce((sum, { total }) => sum + total, 0)).toBe(explanation.score);
        for (const { count, weight, total } of explanation.top_drivers) expect(total).toBe(count * weight);
      }),
    );
  });

  test('at now is the score', () => {
    fc.assert(
      fc.property(log, (all) => {
        const now = momentOfNow(all, new Date(hour(0)));
        expect(explained(all, now)).toMatchObject({ score: lead(all).score, unattributed: 0 });
      }),
    );
  });

  test('known at a past moment is what was answered then, whatever came later', () => {
    fc.assert(
      fc.property(log, fc.nat(10), (all, length) => {
        const before = all.slice(0, length);
        const moment = momentOfNow(before, new Date(hour(0)));
        const answered = explained(before, moment);
        const { known_at, ...said } = asKnown(all, moment);
        expect([known_at, said]).toEqual([moment, answered]);
      }),
    );
  });

  test('at a past moment is the sum of the events until then, in any order of their decisions', () => {
    fc.assert(
      fc.property(log, moment, (all, at) => {
        const last = momentOfNow(all, new Date(hour(0)));
        const sum = all
          .flatMap(({ decided_at, scored_events }) =>
            scored_events.map((scored) => ({ decided_at, ...scored })),
          )
          .filter(({ timestamp, decided_at }) => timestamp <= at || decided_at <= at)
          .reduce((total, { matches }) => total + (matches[0]?.points ?? 0), 0);
        expect(explained(all, at).score).toBe(sum);
        expect(explained(all, at > last ? at : last).score).toBe(lead(all).score);
      }),
    );
  });
});

describe('with changed rules, and a score at the end of its range', () => {
  const names = ['pricing', 'careers', 'open'];
  const change = fc.record({
    rule: fc.constantFrom(...names),
    weight: fc.integer({ min: -9, max: 9 }).filter((weight) => weight !== 0),
    label: fc.option(fc.constantFrom('Old', 'New', 'Newest'), { nil: undefined }),
    event_type: fc.constantFrom('Page View', 'page_view'),
  });
  const visits = fc.record({
    visits: fc.integer({ min: 1, max: 4 }),
    hours: fc.integer({ min: 0, max: 50 }),
  });
  const step = fc.oneof(change, visits);
  const start = fc.constantFrom(0, 2_147_483_640, -2_147_483_640);

  /** A history as scoring records it, of a lead that got a score by one earlier event. */
  function history(
    steps: readonly (typeof step extends fc.Arbitrary<infer One> ? One : never)[],
    from: number,
  ) {
    let current = rules;
    let score = from;
    const decided: ExplainedDecision[] = [];
    const words = new Map<string, string | undefined>();
    for (const [index, one] of steps.entries()) {
      if ('rule' in one) {
        const known = current.rules.get(idOf(one.rule));
        if (!known) throw new Error('the rule is there');
        const { weight, label, event_type } = one;
        const changed = { ...known, label, weight, event_type, version: known.version + 1 };
        current = {
          ...withRules(current, [changed]),
          version: current.version + 1,
        };
      } else {
        const events = Array.from({ length: one.visits }, (_, nth) => ({
          id: idOf(`visit ${String(index)} ${String(nth)}`),
          timestamp: hour(one.hours),
          metadata: { path: nth % 2 === 0 ? '/pricing' : '/' },
        }));
        const made = decideScore(
          ingested('ada', events, { received_at: hour(100 + index) }),
          { score },
          compileRules(current),
        );
        score = made.at(-1)?.score ?? score;
        decided.push(...made);
      }
      for (const { id, version, label } of current.rules.values())
        words.set(`${id} ${String(version)}`, label);
    }
    return { current, score, decided, words };
  }

  test('drivers and adjustments add up to the score, and a driver is its count times its weight', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), start, (steps, from) => {
        const { current, score, decided, words } = history(steps, from);
        const kept = unpackConfiguration(current, packConfiguration(current));
        const explanation = explainScore({ id: idOf('ada'), name: 'Ada', score }, decided, kept, kept, {
          at: hour(1_000),
          range_hours: 876_000,
        });
        expect(routeDeclarations.scoreExplanation.safeParse(explanation).error).toBeUndefined();
        const { top_drivers, adjustments = [], unattributed } = explanation;
        const sum = (parts: readonly number[]) => parts.reduce((total, part) => total + part, 0);
        const total = sum([
          ...top_drivers.map((one) => one.total),
          ...adjustments.map(({ points }) => points),
        ]);
        expect({ total: from + total, unattributed: unattributed - from }).toEqual({
          total: score,
          unattributed: 0,
        });
        for (const { rule_id, count, weight, total: own, label, rule_version } of top_drivers) {
          expect(own).toBe(count * weight);
          expect({ label }).toEqual({ label: words.get(`${rule_id} ${String(rule_version)}`) });
        }
        const parts = top_drivers.map(({ rule_id, weight }) => `${rule_id} ${String(weight)}`);
        expect(new Set(parts).size).toBe(parts.length);
      }),
    );
  });

  test('a changed rule has a driver for each weight, with its label at that time', () => {
    const { current, score, decided } = history(
      [
        { visits: 1, hours: 1 },
        { rule: 'pricing', weight: 5, label: 'New', event_type: 'Page View' },
        { visits: 1, hours: 2 },
      ],
      0,
    );
    const { top_drivers } = explainScore({ id: idOf('ada'), name: 'Ada', score }, decided, current, current, {
      at: hour(1_000),
      range_hours: 876_000,
    });
    expect(top_drivers.filter(({ rule_id }) => rule_id === idOf('pricing'))).toMatchObject([
      { weight: 15, count: 1, total: 15, label: 'pricing', rule_version: 1 },
      { weight: 5, count: 1, total: 5, label: 'New', rule_version: 2 },
    ]);
  });

  test('the explanation of a score at the end of its range has the adjustments, also in its public form', () => {
    const { current, score, decided } = history([{ visits: 3, hours: 1 }], -2_147_483_640);
    const explanation = explainScore({ id: idOf('ada'), name: 'Ada', score }, decided, current, current, {
      at: hour(1_000),
      range_hours: 876_000,
    });
    expect(publicExplanation(explanation).adjustments).toEqual([
      {
        reason: 'held_at_smallest_score',
        count: 1,
        points: expect.any(Number),
        last_at: hour(1),
        text: 'Held at the smallest score that there is',
      },
    ]);
  });
});
