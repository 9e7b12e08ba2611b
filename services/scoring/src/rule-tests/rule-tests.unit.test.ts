// A test of rules says what scoring would do: it decides with the same decider, and each reason agrees with the decision.
import { describe, expect, test } from '@jest/globals';
import { routeDeclarations, routes, type AttributeFilter, type JsonObject } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { decideLeads } from '../scores/decide.js';
import { compileRules } from '../scores/rule-model.js';
import {
  at,
  createRule,
  createRuleset,
  idOf,
  ingested,
  setLevels,
  setRulesActive,
  updateRuleset,
} from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { draftProblems, type DraftRule } from './drafts.js';
import type { SampledEvent } from './reasons.js';
import { testRules } from './test-rules.js';

const pricing: AttributeFilter = { field: 'path', operator: 'contains', value: '/pricing' };
const view = (path?: string): SampledEvent => ({
  event_type: 'page_view',
  timestamp: at,
  ...(path !== undefined && { metadata: { path } }),
});

const tested = (
  state: ReturnType<typeof configured>,
  events: SampledEvent[],
  { drafts = [], score = null }: { drafts?: DraftRule[]; score?: number | null } = {},
) => {
  const answer = testRules(state, { lead: { id: idOf('ada'), score }, events, drafts, now: at });
  const response = routes.testEngagementRules.responses[200].schema.safeParse(answer);
  expect(response.error).toBeUndefined();
  return answer;
};

/** The reasons of one event, by the labels of the rules. */
const reasons = (
  state: ReturnType<typeof configured>,
  event: SampledEvent,
): Record<string, [matched: boolean, points: number, why: string]> =>
  Object.fromEntries(
    (tested(state, [event]).events[0]?.rules ?? []).map(({ label = '', matched, points, why }) => [
      label,
      [matched, points, why],
    ]),
  );

test('limits hold back what they would hold back of the lead, and senseless ones of a draft are refused', () => {
  const state = configured(createRule('view', { max_count: 3 }));
  const lead = {
    id: idOf('ada'),
    score: 10,
    rulesets: [],
    limit_uses: [{ rule_id: idOf('view'), events: 1 }],
  };
  const events = [view(), view(), view()];
  const answer = testRules(state, { lead, events, drafts: [], now: at });
  expect(routes.testEngagementRules.responses[200].schema.safeParse(answer).error).toBeUndefined();
  expect(
    answer.events.map(({ points, rules }) => [points, rules[0]?.points, rules[0]?.counted_points]),
  ).toEqual([
    [10, 10, undefined],
    [10, 10, undefined],
    [0, 10, 0],
  ]);
  const draft = { event_type: 'Page View', weight: 10, cap_points: 5 };
  expect(draftProblems(state, [draft])).toMatchObject([
    { code: 'invalid_request', path: 'body.rules[0].cap_points' },
  ]);
});

describe('each rule says why it matches or does not', () => {
  const rule = (name: string, more: Parameters<typeof createRule>[1] = {}) =>
    createRule(name, { label: name, ruleset_id: idOf('Intent'), ...more });

  test('with the values of the event', () => {
    const state = configured(
      createRuleset('Intent'),
      rule('pricing', { filters: [pricing] }),
      rule('every'),
      rule('open', { event_type: 'Email Open' }),
      rule('from de', {
        filters: [{ field: 'geo.country', operator: 'in', value: ['DE', 'AT'] }, pricing],
      }),
    );
    expect(reasons(state, view('/blog'))).toEqual({
      pricing: [
        false,
        0,
        'Does not match: the rule asks that path contains "/pricing", but path is "/blog".',
      ],
      every: [true, 10, 'Matches every event of type "Page View".'],
      open: [false, 0, 'Does not match: the rule is for events of type "Email Open".'],
      'from de': [
        false,
        0,
        'Does not match: the rule asks that geo.country is one of "DE", "AT", but the event has no geo.country; the rule asks that path contains "/pricing", but path is "/blog".',
      ],
    });
    const nested = { ...view(), metadata: { path: ['/a', '/pricing'], geo: { country: 'de' } } };
    expect(reasons(state, nested)['from de']).toEqual([
      true,
      10,
      'Matches: geo.country is one of "DE", "AT", and geo.country is "de"; path contains "/pricing", and path is one of "/a", "/pricing".',
    ]);
  });

  test('outside its time, switched off, or in a ruleset that is switched off', () => {
    const state = configured(
      createRuleset('Intent'),
      createRuleset('Old'),
      rule('later', { starts_at: '2026-02-01T00:00:00.000Z' }),
      rule('earlier', { ends_at: at }),
      rule('off'),
      rule('in old', { ruleset_id: idOf('Old') }),
      setRulesActive(['off'], false),
      updateRuleset('Old', { active: false }),
    );
    expect(reasons(state, view())).toEqual({
      later: [
        false,
        0,
        `Does not match: the rule takes events from 2026-02-01T00:00:00.000Z on, and this one is of ${at}.`,
      ],
      earlier: [false, 0, `Does not match: the rule takes events before ${at}, and this one is of ${at}.`],
      off: [true, 0, 'Matches every event of type "Page View". No points, because the rule is switched off.'],
      'in old': [
        true,
        0,
        'Matches every event of type "Page View". No points, because its ruleset "Old" is switched off.',
      ],
    });
  });

  test('within a thousand characters, whatever filters and values hold', () => {
    const long = 'x😀'.repeat(400);
    const state = configured(
      rule('long', {
        ruleset_id: undefined,
        filters: Array.from({ length: 20 }, (_, index) => ({
          field: `${String(index)}${'f'.repeat(190)}`,
          operator: 'equals' as const,
          value: long,
        })),
      }),
    );
    const metadata: JsonObject = { [`0${'f'.repeat(190)}`]: 'y'.repeat(90_000) };
    const [, , why] = reasons(state, { ...view(), metadata }).long ?? [];
    expect(why?.length).toBeLessThanOrEqual(1_000);
    expect(why?.isWellFormed()).toBe(true);
  });
});

describe('drafts', () => {
  const state = configured(createRuleset('Intent'), createRule('view', { ruleset_id: idOf('Intent') }));
  const draft = { event_type: 'Page View', weight: 7, label: 'draft' };

  test('count beside the rules, in the default ruleset, which need not be there', () => {
    const [event] = tested(state, [view()], { drafts: [draft] }).events;
    expect(event).toMatchObject({ points: 17, rules_matched: 2, rules_total: 2 });
    expect(event?.rules[1]).toMatchObject({ rule_id: null, draft: 0, points: 7, matched: true });
    expect(state.rules.size).toBe(1);
  });

  test('take the place of the rules that they replace', () => {
    const drafts = [{ ...draft, replaces: idOf('view').toUpperCase() }];
    expect(tested(state, [view()], { drafts }).events[0]).toMatchObject({ points: 7, rules_total: 1 });
  });

  test('that name an unknown ruleset or rule, or a ruleset of another kind, are named', () => {
    const unknown = idOf('unknown');
    const mixed = configured(
      createRuleset('Intent'),
      createRule('view', { ruleset_id: idOf('Intent') }),
      createRuleset('Fit', { score_type: 'profile' }),
    );
    const drafts = [
      draft,
      { ...draft, ruleset_id: unknown, replaces: unknown },
      { ...draft, ruleset_id: idOf('Fit') },
      { ...draft, ruleset_id: idOf('Intent'), replaces: idOf('view') },
    ];
    expect(draftProblems(mixed, drafts).map(({ code, path }) => [code, path])).toEqual([
      ['ruleset_not_found', 'body.rules[1].ruleset_id'],
      ['rule_not_found', 'body.rules[1].replaces'],
      ['invalid_request', 'body.rules[2].ruleset_id'],
    ]);
  });
});

describe('events', () => {
  test('come one after the other to the lead, and the last score has its level', () => {
    const state = configured(createRule('view', { weight: 2_000_000_000 }), setLevels([['Hot', 100, null]]));
    const answer = tested(state, [view(), view()], { score: 1_000 });
    expect(answer).toMatchObject({
      previous_score: 1_000,
      points: 2_147_482_647,
      score: 2_147_483_647,
      level: { name: 'Hot' },
      events: [
        { points: 2_000_000_000, score: 2_000_001_000 },
        { points: 147_482_647, adjustments: [{ reason: 'held_at_largest_score' }] },
      ],
    });
    expect(answer.events[0]?.adjustments).toBeUndefined();
  });

  test('list few rules each where there are many, those that match first; the points are of all', () => {
    const names = Array.from({ length: 60 }, (_, index) => `rule ${String(index)}`);
    const state = configured(
      ...names.map((name, index) =>
        createRule(name, {
          weight: 1,
          ...(index < 30 ? { event_type: 'Other' } : { filters: index < 45 ? [pricing] : [] }),
        }),
      ),
    );
    const answer = tested(
      state,
      Array.from({ length: 100 }, () => view('/blog')),
    );
    for (const { points, rules, rules_matched, rules_total } of answer.events) {
      expect([points, rules.length, rules_matched, rules_total]).toEqual([15, 20, 15, 60]);
      expect(rules.map(({ matched }) => matched)).toEqual(
        Array.from({ length: 20 }, (_, index) => index < 15),
      );
      expect(rules.slice(15).every(({ why }) => why.includes('path is "/blog"'))).toBe(true);
    }
  });
});

test('a test agrees with scoring: points and matches are those of the decider, and every reason says the same', () => {
  const filter = fc.oneof(
    fc.record({
      field: fc.constantFrom('path', 'plan.name', 'size'),
      operator: fc.constantFrom('equals', 'not_equals', 'contains', 'not_contains'),
      value: fc.constantFrom('/pricing', 'pro', 5),
    }),
    fc.record({ field: fc.constantFrom('path', 'size'), operator: fc.constantFrom('exists', 'not_exists') }),
    fc.record({
      field: fc.constant('size'),
      operator: fc.constantFrom('gt', 'lte'),
      value: fc.integer({ min: 0, max: 9 }),
    }),
  );
  const moment = fc.constantFrom('2026-01-01T11:00:00.000Z', at, '2026-01-01T13:00:00.000Z');
  const rule = fc.record(
    {
      event_type: fc.constantFrom('Page View', 'page_view', 'Email Open'),
      weight: fc.integer({ min: -9, max: 9 }).filter((weight) => weight !== 0),
      active: fc.boolean(),
      attribute_filters: fc.array(filter, { maxLength: 3 }),
      starts_at: moment,
      ends_at: moment,
    },
    { requiredKeys: ['event_type', 'weight'] },
  );
  const event = fc.record(
    {
      event_type: fc.constantFrom('Page View', 'email_open'),
      timestamp: moment,
      metadata: fc.record(
        { path: fc.constantFrom('/pricing', '/blog', null), size: fc.constantFrom(3, '7', [1, 9]) },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['event_type', 'timestamp'] },
  );
  const inOrder = ({ starts_at, ends_at }: { starts_at?: string; ends_at?: string }) =>
    starts_at === undefined || ends_at === undefined || starts_at < ends_at;
  fc.assert(
    fc.property(
      fc.array(rule.filter(inOrder), { maxLength: 8 }),
      fc.array(rule.filter(inOrder), { maxLength: 4 }),
      fc.array(event, { minLength: 1, maxLength: 5 }),
      (rules, drafts, events) => {
        const commands = (from: typeof rules, prefix: string) =>
          from.map((fields, index) => createRule(`${prefix} ${String(index)}`, fields as never));
        const answer = tested(configured(...commands(rules, 'rule')), events, {
          drafts: drafts,
        });
        const production = decideLeads(
          events.map((one, index) => ({
            type: 'EventsIngested',
            payload: ingested('ada', [
              { id: idOf(`event ${String(index)}`), ...(one as SampledEvent) } as never,
            ]),
          })),
          () => null,
          () => compileRules(configured(...commands(rules, 'rule'), ...commands(drafts, 'draft'))),
        );
        for (const [index, decided] of production.entries()) {
          if (decided.type !== 'LeadScored') throw new Error('a lead was removed');
          const shown = answer.events[index];
          const matched = decided.payload.scored_events.flatMap(({ matches }) => matches);
          expect(shown?.score).toBe(decided.payload.score);
          expect(shown?.rules).toHaveLength(rules.length + drafts.length);
          expect(shown?.rules_matched).toBe(matched.length);
          expect(shown?.rules.reduce((sum, { points }) => sum + points, 0)).toBe(shown?.points);
          for (const { matched: says, points, why } of shown?.rules ?? []) {
            expect(why.startsWith('Matches')).toBe(says);
            expect(points !== 0).toBe(says && !why.includes('No points'));
          }
        }
      },
    ),
  );
});

test('the limits of a request are those of its declaration', () => {
  const { body } = routes.testEngagementRules;
  const { events, drafts } = routeDeclarations.ruleTestLimits;
  const draft = { event_type: 'Page View', weight: 1 };
  const request = (count: number, drafted: number) =>
    body.safeParse({
      events: Array.from({ length: count }, () => ({ event_type: 'Page View' })),
      rules: Array.from({ length: drafted }, () => draft),
    }).success;
  expect([request(events, drafts), request(events + 1, 0), request(1, drafts + 1), request(0, 0)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  const metadata = (length: number) =>
    body.safeParse({ events: [{ event_type: 'a', metadata: { text: 'x'.repeat(length) } }] }).success;
  expect([metadata(99_000), metadata(100_000)]).toEqual([true, false]);
  const bad = { ...draft, starts_at: '2026-02-01T00:00:00Z', ends_at: '2026-01-01T00:00:00Z' };
  expect(body.safeParse({ events: [{ event_type: 'a' }], rules: [bad] }).success).toBe(false);
});
