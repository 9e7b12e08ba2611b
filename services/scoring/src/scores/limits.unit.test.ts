// Given rules and rulesets with limits, when events come, then points are held back, the decision says which, and sums agree.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import {
  pointsOfEvent,
  withDecision,
  withRules,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { defaultRulesetIdOf } from '../configuration/decide.js';
import { toLead, toLeadDocument } from '../leads/documents.js';
import { foldAdjusted } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import {
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  ouId,
  updateRuleset,
  type IngestedEvent,
} from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { decideLeads, decideScore, type LeadBefore } from './decide.js';
import { addUse, leadMemory, roomOn, withLimitUses } from './use-model.js';
import type { LeadCause } from './messages.js';
import { compileRules } from './rule-model.js';
import { causedEvents } from '../testing/caused-events.js';

const onDay = (day: number, metadata?: IngestedEvent['metadata']): IngestedEvent => ({
  timestamp: new Date(Date.UTC(2026, 0, day, 11)).toISOString(),
  ...(metadata && { metadata }),
});
const times = (count: number) => Array.from({ length: count }, () => onDay(1));

/** Decides events of one lead, a record each, and checks that sums agree. */
function decide(
  configuration: ScoringConfiguration,
  events: IngestedEvent[],
  before: LeadBefore = { score: 0 },
) {
  const folded: Lead[] = [];
  let known = before;
  const decisions = events.map((event, index) => {
    const made = decideScore(
      ingested('ada', [{ id: idOf(`event ${String(index)}`), ...event }]),
      known,
      compileRules(configuration),
    );
    const [decision, ...others] = made;
    if (!decision || others.length > 0) throw new Error('one decision was expected');
    agrees(decision);
    folded.push(foldLead(folded.at(-1) ?? null, decision, index));
    known = {
      score: decision.score,
      rulesets: withDecision(known.rulesets ?? [], decision),
      limit_uses: withLimitUses(known.limit_uses, decision.limit_uses),
    };
    return decision;
  });
  return {
    decisions,
    gained: decisions.map(({ score, previous_score }) => score - previous_score),
    lead: folded.at(-1),
    after: known,
  };
}

/** The sums of a decision agree, and its form is the declared one. */
function agrees(decision: records.LeadScored): void {
  expect(records.leadScored.schema.safeParse(decision).error).toBeUndefined();
  const { previous_score, score, scored_events, adjustments = [] } = decision;
  const matches = scored_events.flatMap((event) => event.matches);
  const sum = (points: readonly { points: number }[]) => points.reduce((all, one) => all + one.points, 0);
  expect(previous_score + sum(matches) + sum(adjustments)).toBe(score);
  // Event by event as well.
  expect(previous_score + scored_events.map(pointsOfEvent).reduce((all, points) => all + points, 0)).toBe(
    score,
  );
  for (const { rule_id, points } of adjustments.filter(({ reason }) => reason === 'capped_by_rule'))
    expect(sum(matches.filter((match) => match.rule_id === rule_id)) + points).toBe(
      matches
        .filter((match) => match.rule_id === rule_id)
        .reduce((all, match) => all + (match.counted_points ?? match.points), 0),
    );
}

describe('max_count', () => {
  const given = configured(createRule('view', { max_count: 3 }));

  test('counts so many events of a lead, and the decision says how many of how many', () => {
    expect(decide(given, times(5)).gained).toEqual([10, 10, 10, 0, 0]);
    const decisions = decideScore(ingested('ada', times(5)), null, compileRules(given));
    expect(decisions).toMatchObject([
      {
        score: 30,
        adjustments: [
          {
            reason: 'capped_by_rule',
            points: -20,
            rule_id: idOf('view'),
            rule_version: 1,
            ruleset_id: defaultRulesetIdOf(ouId),
            counted: 3,
            matched: 5,
          },
        ],
        limit_uses: [{ rule_id: idOf('view'), events: 3 }],
      },
    ]);
    expect(decisions[0]?.scored_events.map(({ matches }) => matches[0]?.counted_points)).toEqual([
      undefined,
      undefined,
      undefined,
      0,
      0,
    ]);
  });

  test('a raised limit counts what was counted before; a lowered one takes nothing back', () => {
    const { after } = decide(given, times(5));
    const changed = (max_count: number | undefined) => {
      const rule = given.rules.get(idOf('view'));
      if (!rule) throw new Error('no rule');
      const { id, ruleset_id, event_type, weight, attribute_filters, active, created_at, updated_at } = rule;
      const unlimited = {
        id,
        ruleset_id,
        event_type,
        weight,
        attribute_filters,
        active,
        created_at,
        updated_at,
      };
      return withRules(given, [{ ...unlimited, ...(max_count && { max_count }), version: 2 }]);
    };
    expect(decide(changed(5), times(3), after).gained).toEqual([10, 10, 0]);
    expect(decide(changed(2), times(2), after).gained).toEqual([0, 0]);
    // Without the limit nothing is counted, so what came meanwhile is not known when it is back.
    const meanwhile = decide(changed(undefined), times(4), after);
    expect(meanwhile.gained).toEqual([10, 10, 10, 10]);
    expect(decide(changed(4), times(2), meanwhile.after).gained).toEqual([10, 0]);
  });

  test('after a reset of the score limits begin anew', () => {
    const { lead } = decide(given, times(4));
    if (!lead) throw new Error('no lead');
    const reset: records.ScoreAdjusted = {
      ou_id: ouId,
      lead_id: idOf('ada'),
      score_type: 'engagement',
      previous_score: 30,
      score: 0,
      configuration_version: 1,
      adjustments: [{ reason: 'reset', points: -30 }],
      decided_at: '2026-01-02T00:00:00.000Z',
      fire_triggers: false,
    };
    const after = foldAdjusted(lead, reset, 100);
    expect(after).not.toHaveProperty('limit_uses');
    expect(decide(given, times(4), after).gained).toEqual([10, 10, 10, 0]);
  });

  test('a deleted lead begins anew', () => {
    const view = (): LeadCause => ({ type: 'EventsIngested', payload: ingested('ada', times(4)) });
    const events = decideLeads(
      [view(), { type: 'LeadDeleted', payload: deleted('ada') }, view()],
      () => null,
      () => compileRules(given),
    );
    expect(events.map(({ type, payload }) => [type, 'score' in payload && payload.score])).toEqual([
      ['LeadScored', 30],
      ['LeadRemoved', false],
      ['LeadScored', 30],
    ]);
  });
});

describe('once_per', () => {
  test('lead: the first event counts; event: each does', () => {
    expect(decide(configured(createRule('view', { once_per: 'lead' })), times(3)).gained).toEqual([10, 0, 0]);
    expect(decide(configured(createRule('view', { once_per: 'event' })), times(3)).gained).toEqual([
      10, 10, 10,
    ]);
  });

  test('value: the first event with each value counts; values that filters find equal are one', () => {
    const given = configured(createRule('view', { once_per: 'value:page.path' }));
    const events = [
      '/Pricing',
      '/pricing',
      '/blog',
      1,
      '1.0',
      '2',
      null,
      undefined,
      ['a', 'b'],
      ['a', 'b'],
      'a',
    ].map((path) => onDay(1, path === undefined ? {} : { page: { path } }));
    const { gained, decisions } = decide(given, events);
    expect(gained).toEqual([10, 0, 10, 10, 0, 10, 10, 0, 10, 0, 10]);
    expect(decisions[0]?.limit_uses).toEqual([
      { rule_id: idOf('view'), values: [expect.stringMatching(/^[\w-]{8}$/)] },
    ]);
    expect(decisions[1]?.limit_uses).toBeUndefined();
  });

  test('value: another field begins anew', () => {
    const first = decide(configured(createRule('view', { once_per: 'value:path' })), [
      onDay(1, { path: 'x', form: 'x' }),
    ]);
    const other = configured(createRule('view', { once_per: 'value:form' }));
    expect(decide(other, [onDay(1, { path: 'x', form: 'x' })], first.after).gained).toEqual([10]);
  });

  test('value: at most 500 values of a lead count', () => {
    const given = configured(createRule('view', { once_per: 'value:path' }));
    const events = Array.from({ length: 502 }, (_, nth) => onDay(1, { path: `/${String(nth)}` }));
    const decisions = decideScore(ingested('ada', events), null, compileRules(given));
    expect(decisions[0]?.score).toBe(5_000);
    expect(decisions[0]?.adjustments).toMatchObject([{ counted: 500, matched: 502, points: -20 }]);
  });
});

describe('cap_points', () => {
  test('gives at most so many points; the event that would pass it counts in part', () => {
    expect(decide(configured(createRule('view', { cap_points: 25 })), times(4)).gained).toEqual([
      10, 10, 5, 0,
    ]);
  });

  test('of a negative weight takes at most so many points', () => {
    const { gained, decisions } = decide(
      configured(createRule('view', { weight: -10, cap_points: 25 })),
      times(4),
    );
    expect(gained).toEqual([-10, -10, -5, 0]);
    expect(decisions[2]?.adjustments).toMatchObject([{ points: 5, counted: 1, matched: 1 }]);
    expect(decisions[3]?.scored_events[0]?.matches[0]?.counted_points).toBe(0);
  });

  test('with cap_days holds for each so many consecutive days, by event time and in any order of arrival', () => {
    const given = configured(createRule('view', { cap_points: 20, cap_days: 3 }));
    expect(
      decide(
        given,
        [1, 1, 2, 3, 4, 4, 4].map((day) => onDay(day)),
      ).gained,
    ).toEqual([10, 10, 0, 0, 10, 10, 0]);
    // The window of day 3 has points before and after: a late event counts only if no window gets too many.
    expect(
      decide(
        given,
        [1, 5, 3, 3, 2].map((day) => onDay(day)),
      ).gained,
    ).toEqual([10, 10, 10, 0, 0]);
  });

  test('an event that gives nothing uses nothing up', () => {
    const given = configured(createRule('view', { max_count: 2, cap_points: 10, cap_days: 1 }));
    expect(
      decide(
        given,
        [1, 1, 1, 2, 3].map((day) => onDay(day)),
      ).gained,
    ).toEqual([10, 0, 0, 10, 0]);
  });

  test('days before the earliest of 400 remembered ones get nothing more', () => {
    const given = configured(createRule('view', { cap_points: 10, cap_days: 1 }));
    const days = Array.from({ length: 401 }, (_, day) => onDay(day + 10));
    const [after] = decideScore(ingested('ada', days), null, compileRules(given));
    if (!after) throw new Error('no decision');
    expect(after.score).toBe(4_010);
    expect(after.limit_uses?.[0]?.days).toHaveLength(400);
    expect(decide(given, [onDay(3), onDay(10), onDay(500)], after).gained).toEqual([0, 0, 10]);
  });
});

describe('the limits of a ruleset', () => {
  const inWeb = (name: string, more: Parameters<typeof createRule>[1] = {}) =>
    createRule(name, { ruleset_id: idOf('Web'), ...more });

  test('hold its sum between them, and the held points are its adjustment', () => {
    const given = configured(
      createRuleset('Web', { min_score: -5, max_score: 25 }),
      inWeb('view'),
      inWeb('gone', { event_type: 'Unsubscribe', weight: -20 }),
      createRule('other', { event_type: 'Unsubscribe', weight: 1 }),
    );
    const gone = { ...onDay(1), event_type: 'Unsubscribe' };
    const { gained, decisions, lead } = decide(given, [...times(4), gone, gone, ...times(1)]);
    expect(gained).toEqual([10, 10, 5, 0, -19, -9, 10]);
    expect(decisions[2]?.adjustments).toEqual([
      { reason: 'held_by_ruleset', points: -5, ruleset_id: idOf('Web') },
    ]);
    expect(lead?.rulesets).toEqual([
      { ruleset_id: idOf('Web'), score: 5 },
      { ruleset_id: defaultRulesetIdOf(ouId), score: 2 },
    ]);
  });

  test('that come later leave the sum of a lead that is beyond them, and let it only come back', () => {
    const before = decide(configured(createRuleset('Web'), inWeb('view')), times(5)).after;
    expect(before.score).toBe(50);
    const limited = { score: 50, rulesets: [{ ruleset_id: idOf('Web'), score: 50 }] };
    const given = configured(
      createRuleset('Web'),
      inWeb('view'),
      inWeb('gone', { event_type: 'Unsubscribe', weight: -35 }),
      updateRuleset('Web', { max_score: 20 }),
    );
    const gone = { ...onDay(1), event_type: 'Unsubscribe' };
    expect(decide(given, [onDay(1), gone, onDay(1)], limited).gained).toEqual([0, -35, 5]);
  });

  test('follow those of rules: what a rule counted stays counted', () => {
    const given = configured(createRuleset('Web', { max_score: 15 }), inWeb('view', { max_count: 2 }));
    const { gained, after, decisions } = decide(given, times(3));
    expect(gained).toEqual([10, 5, 0]);
    expect(after.limit_uses).toEqual([{ rule_id: idOf('view'), events: 2 }]);
    expect(decisions[1]?.adjustments).toMatchObject([{ reason: 'held_by_ruleset', points: -5 }]);
    expect(decisions[2]?.adjustments).toMatchObject([{ reason: 'capped_by_rule', points: -10 }]);
  });
});

test('a lead without matches of rules with limits has no state of limits, and its decisions say nothing of them', () => {
  const given = configured(
    createRule('view'),
    createRule('open', { event_type: 'Email Open', max_count: 1 }),
  );
  const { decisions, lead } = decide(given, times(2));
  expect(lead).not.toHaveProperty('limit_uses');
  for (const decision of decisions) {
    expect(decision).not.toHaveProperty('limit_uses');
    expect(decision).not.toHaveProperty('adjustments');
  }
});

describe('laws', () => {
  const limits = fc
    .record({
      weight: fc.integer({ min: -9, max: 9 }).filter((weight) => weight !== 0),
      max_count: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      once_per: fc.constantFrom(undefined, 'lead', 'value:path'),
      cap: fc.option(fc.integer({ min: 9, max: 30 }), { nil: undefined }),
      cap_days: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    })
    .map(({ weight, max_count, once_per, cap, cap_days }) =>
      once_per === 'lead'
        ? { weight, once_per }
        : {
            weight,
            ...(max_count !== undefined && { max_count }),
            ...(once_per !== undefined && { once_per }),
            ...(cap !== undefined && { cap_points: cap, ...(cap_days !== undefined && { cap_days }) }),
          },
    );
  const configurations = fc
    .record({
      rules: fc.array(limits, { minLength: 1, maxLength: 4 }),
      min_score: fc.option(fc.integer({ min: -20, max: -1 })),
      max_score: fc.option(fc.integer({ min: 1, max: 40 })),
    })
    .map(({ rules, min_score, max_score }) =>
      configured(
        createRuleset('Web', { min_score, max_score }),
        ...rules.map((rule, index) =>
          createRule(`rule ${String(index)}`, {
            ...(index % 2 === 0 && { ruleset_id: idOf('Web') }),
            ...rule,
          }),
        ),
      ),
    );
  const events = fc.array(
    fc.record({
      day: fc.integer({ min: 1, max: 12 }),
      path: fc.constantFrom('/a', '/A', '/b', '/c'),
      lead: fc.constantFrom('ada', 'bob'),
    }),
    { minLength: 1, maxLength: 30 },
  );

  /** Decides in records and batches of these sizes; a crash between batches folds all decisions anew. */
  function scoresOf(
    configuration: ScoringConfiguration,
    all: typeof events extends fc.Arbitrary<infer Value> ? Value : never,
    sizes: readonly number[],
    crashes: boolean,
  ) {
    const records = inParts(all, sizes).flatMap((part) =>
      ['ada', 'bob'].flatMap((lead) => {
        const own = part.filter((event) => event.lead === lead);
        return own.length === 0 ? [] : [{ lead, own }];
      }),
    );
    const rules = compileRules(configuration);
    const log: records.LeadScored[] = [];
    let leads = new Map<string, Lead>();
    for (const batch of inParts(records, [...sizes].reverse())) {
      const decided = decideLeads(
        batch.map(({ lead, own }): LeadCause => ({
          type: 'EventsIngested',
          payload: ingested(
            lead,
            own.map(({ day, path }) => onDay(day, { path })),
          ),
        })),
        (_, lead) => leads.get(lead) ?? null,
        () => rules,
      );
      for (const { type, payload } of causedEvents(decided)) {
        if (type === 'LeadRemoved') continue;
        agrees(payload);
        log.push(payload);
        leads.set(payload.lead_id, foldLead(leads.get(payload.lead_id) ?? null, payload, log.length));
      }
      if (crashes) leads = foldedFromJson(log);
    }
    return [...leads.values()]
      .map(({ id, score, rulesets, limit_uses }) => ({
        id,
        score,
        rulesets: Object.fromEntries(rulesets.map((ruleset) => [ruleset.ruleset_id, ruleset.score])),
        limit_uses: Object.fromEntries((limit_uses ?? []).map((use) => [use.rule_id, use])),
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  function inParts<Item>(all: readonly Item[], sizes: readonly number[]): Item[][] {
    const rest = [...all];
    const parts = sizes.map((size) => rest.splice(0, size));
    return [...parts, rest].filter(({ length }) => length > 0);
  }

  /** Replayed from the text on the log, and stored and loaded in between. */
  function foldedFromJson(log: readonly records.LeadScored[]): Map<string, Lead> {
    const leads = new Map<string, Lead>();
    for (const [index, decision] of (JSON.parse(JSON.stringify(log)) as records.LeadScored[]).entries()) {
      const lead = foldLead(leads.get(decision.lead_id) ?? null, decision, index + 1);
      leads.set(decision.lead_id, toLead(toLeadDocument(lead, 0), ouId));
    }
    return leads;
  }

  test('any division of events into records and batches, with crashes, gives the same scores and the same state', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 8 });
    fc.assert(
      fc.property(configurations, events, sizes, fc.boolean(), (configuration, all, parts, crashes) => {
        expect(scoresOf(configuration, all, parts, crashes)).toEqual(
          scoresOf(
            configuration,
            all,
            all.map(() => 1),
            false,
          ),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('a rule never gives more than cap_points in any cap_days consecutive days', () => {
    const day = fc.integer({ min: 1, max: 28 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(day, fc.integer({ min: 1, max: 9 })), { maxLength: 40 }),
        fc.integer({ min: 9, max: 40 }),
        fc.integer({ min: 1, max: 30 }),
        (happened, cap_points, cap_days) => {
          let use: records.LimitUse = { rule_id: idOf('view') };
          const points = new Array<number>(100).fill(0);
          for (const [nth, size] of happened) {
            const text = `2026-01-${String(nth).padStart(2, '0')}`;
            // The plain way: every window that has the day in it.
            const sums = Array.from({ length: cap_days }, (_, back) =>
              points
                .slice(Math.max(0, nth - back), Math.max(0, nth - back) + cap_days - Math.max(0, back - nth))
                .reduce((sum, one) => sum + one, 0),
            );
            const room = roomOn(text, use, { cap_points, cap_days });
            expect(room).toBe(cap_points - Math.max(0, ...sums));
            const counted = Math.min(room, size);
            if (counted === 0) continue;
            points[nth] = (points[nth] ?? 0) + counted;
            use = addUse(use, { rule_id: use.rule_id, days: [{ day: text, points: counted }] });
          }
          expect(use.days?.map(({ day }) => day) ?? []).toEqual(
            [...(use.days ?? [])].map(({ day }) => day).sort(),
          );
        },
      ),
    );
  });
});

test('what is remembered of a lead is bounded: what counted longest ago is forgotten first', () => {
  const use = (nth: number, values = 0): records.LimitUse => ({
    rule_id: idOf(`rule ${String(nth)}`),
    events: 1,
    ...(values > 0 && {
      values: Array.from({ length: values }, (_, value) => String(value).padStart(8, '0')),
    }),
  });
  let uses: readonly records.LimitUse[] | undefined;
  for (let nth = 0; nth < leadMemory.rules + 5; nth += 1) uses = withLimitUses(uses, [use(nth)]);
  uses = withLimitUses(uses, [use(5)]);
  expect(uses).toHaveLength(leadMemory.rules);
  expect(uses?.[0]?.rule_id).toBe(idOf('rule 6'));
  expect(uses?.at(-1)).toEqual({ rule_id: idOf('rule 5'), events: 2 });
  let large: readonly records.LimitUse[] | undefined;
  for (let nth = 0; nth < 30; nth += 1) large = withLimitUses(large, [use(nth, 500)]);
  expect(large?.map(({ rule_id }) => rule_id)).toEqual(
    Array.from({ length: 20 }, (_, nth) => idOf(`rule ${String(nth + 10)}`)),
  );
  expect(withLimitUses(undefined, undefined)).toBeUndefined();
});
