// Given rules and a lead's score, when events come, then the decision has their points and the reasons.
import { describe, expect, test } from '@jest/globals';
import { records, type AttributeFilter } from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { ConfigurationCommand } from '../configuration/messages.js';
import {
  at,
  createRule,
  createRuleset,
  deleted,
  idOf,
  ingested,
  setRulesActive,
  updateRuleset,
} from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { viewRules } from '../testing/view-rules.js';
import { decideLeads, decideScore } from './decide.js';
import type { LeadCause, LeadEvent } from './messages.js';
import { compileRules, type CompiledRules } from './rule-model.js';
import { causedEvents } from '../testing/caused-events.js';

const rules = (...commands: ConfigurationCommand[]): CompiledRules => compileRules(configured(...commands));

const pricing: AttributeFilter[] = [{ field: 'path', operator: 'contains', value: '/Pricing' }];
const one = (given: CompiledRules, ...events: Parameters<typeof ingested>[1]) => {
  const [decision, ...others] = decideScore(ingested('ada', events), { score: 5 }, given);
  expect(others).toEqual([]);
  if (!decision) throw new Error('no decision');
  expect(records.leadScored.schema.safeParse(decision).error).toBeUndefined();
  return decision;
};

describe('points', () => {
  test('each matching rule gives its points, and the decision names the rule, its version and the event', () => {
    const decision = one(
      rules(
        createRuleset('Intent'),
        createRule('view', { ruleset_id: idOf('Intent') }),
        createRule('pricing', { weight: 15, filters: pricing, ruleset_id: idOf('Intent') }),
      ),
      { metadata: { path: '/pricing/team' } },
      { metadata: { path: '/blog' } },
      { event_type: 'Email Open' },
    );
    expect(decision).toMatchObject({
      previous_score: 5,
      score: 40,
      configuration_version: 3,
      event_count: 3,
      decided_at: at,
    });
    expect(
      decision.scored_events.map(({ matches }) => matches.map(({ rule_id, points }) => [rule_id, points])),
    ).toEqual([
      [
        [idOf('view'), 10],
        [idOf('pricing'), 15],
      ],
      [[idOf('view'), 10]],
    ]);
    expect(decision.scored_events[0]?.matches[0]).toMatchObject({
      rule_version: 1,
      ruleset_id: idOf('Intent'),
    });
  });

  test('a decision is also made if no rule matches, so that the lead exists and its last activity is current', () => {
    const decision = one(
      rules(),
      { timestamp: '2026-01-01T08:00:00.000Z' },
      { timestamp: '2026-01-01T09:00:00.000Z' },
    );
    expect(decision).toMatchObject({
      score: 5,
      configuration_version: 0,
      scored_events: [],
      first_activity_at: '2026-01-01T08:00:00.000Z',
      last_activity_at: '2026-01-01T09:00:00.000Z',
    });
  });

  test.each(['Page View', 'page_view', 'PAGE VIEW', 'page-view'])(
    '%s is matched by the rules for Page View',
    (event_type) => {
      expect(one(rules(createRule('view')), { event_type }).score).toBe(15);
    },
  );

  test('negative points lower a score below 0', () => {
    expect(one(rules(createRule('careers', { weight: -8 })), {}).score).toBe(-3);
  });

  test('inactive rules and rules of inactive rulesets give no points', () => {
    const made = [createRuleset('Off'), createRule('a', { ruleset_id: idOf('Off') }), createRule('b')];
    expect(one(rules(...made), {}).score).toBe(25);
    expect(one(rules(...made, updateRuleset('Off', { active: false })), {}).score).toBe(15);
    expect(one(rules(...made, setRulesActive(['b'], false)), {}).score).toBe(15);
    expect(one(rules(...made, setRulesActive(['b'], false), setRulesActive(['b'], true)), {})).toMatchObject({
      score: 25,
      scored_events: [{ matches: [{ rule_version: 1 }, { rule_version: 3 }] }],
    });
  });

  test.each([
    ['2025-12-31T23:59:59.999Z', 5],
    ['2026-01-01T00:00:00.000Z', 15],
    ['2026-01-31T23:59:59.999Z', 15],
    ['2026-02-01T00:00:00.000Z', 5],
  ])(
    'with starts_at 1 January and ends_at 1 February an event of %s makes the score %d',
    (timestamp, score) => {
      const given = rules(
        createRule('january', { starts_at: '2026-01-01T00:00:00.000Z', ends_at: '2026-02-01T00:00:00.000Z' }),
      );
      expect(one(given, { timestamp }).score).toBe(score);
    },
  );

  test('a score stays within 32 bits, and the adjustment is recorded', () => {
    const up = rules(createRule('large', { weight: 10_000 }));
    expect(decideScore(ingested('ada', [{}]), { score: 2_147_483_640 }, up)).toMatchObject([
      { score: 2_147_483_647, adjustments: [{ reason: 'held_at_largest_score', points: -9_993 }] },
    ]);
    const down = rules(createRule('large', { weight: -10_000 }));
    expect(decideScore(ingested('ada', [{}]), { score: -2_147_483_648 }, down)).toMatchObject([
      { score: -2_147_483_648, adjustments: [{ reason: 'held_at_smallest_score', points: 10_000 }] },
    ]);
    expect(decideScore(ingested('ada', [{}]), { score: 0 }, up)[0]).not.toHaveProperty('adjustments');
  });

  test('near both ends of the range every decision adds up, and the division of events into records makes no difference', () => {
    const given = rules(
      createRule('gain', { event_type: 'Gain', weight: 10_000 }),
      createRule('small', { event_type: 'Gain', weight: -3 }),
      createRule('loss', { event_type: 'Loss', weight: -10_000 }),
    );
    const start = fc.oneof(
      fc.integer({ min: 2_147_450_000, max: 2_147_483_647 }),
      fc.integer({ min: -2_147_483_648, max: -2_147_450_000 }),
    );
    const events = fc.array(fc.constantFrom('Gain', 'Gain', 'Loss', 'Other'), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(start, events, fc.nat(20), (from, types, cut) => {
        const record = (some: readonly string[]) =>
          ingested(
            'ada',
            some.map((event_type, index) => ({ id: idOf(`${event_type} ${String(index)}`), event_type })),
          );
        const decide = (parts: readonly (readonly string[])[]) => {
          let score = from;
          let held = 0;
          for (const part of parts.filter(({ length }) => length > 0))
            for (const decision of decideScore(record(part), { score }, given)) {
              expect(records.leadScored.schema.safeParse(decision).error).toBeUndefined();
              const gained = decision.scored_events
                .flatMap(({ matches }) => matches)
                .reduce((sum, { points }) => sum + points, 0);
              const adjusted = (decision.adjustments ?? []).reduce((sum, { points }) => sum + points, 0);
              expect(decision.previous_score).toBe(score);
              expect(decision.previous_score + gained + adjusted).toBe(decision.score);
              score = decision.score;
              held += adjusted;
            }
          return { score, held };
        };
        expect(decide([types.slice(0, cut), types.slice(cut)])).toEqual(decide([types]));
      }),
    );
  });

  test('very many matches are divided among consecutive decisions', () => {
    const given = rules(
      ...Array.from({ length: 900 }, (_, index) => createRule(`r${String(index)}`, { weight: 1 })),
    );
    const decisions = decideScore(
      ingested(
        'ada',
        Array.from({ length: 7 }, () => ({})),
      ),
      { score: 0 },
      given,
    );
    expect(
      decisions.map(({ event_count, previous_score, score }) => [event_count, previous_score, score]),
    ).toEqual([
      [2, 0, 1_800],
      [2, 1_800, 3_600],
      [2, 3_600, 5_400],
      [1, 5_400, 6_300],
    ]);
    for (const decision of decisions) expect(JSON.stringify(decision).length).toBeLessThan(500_000);
  });
});

describe('laws', () => {
  test('events give a lead the same score in any division into records', () => {
    const given = rules(
      createRule('view'),
      createRule('pricing', { weight: -3, filters: pricing }),
      createRule('open', { event_type: 'Email Open', weight: 2 }),
    );
    const event = fc.record({
      event_type: fc.constantFrom('Page View', 'email_open', 'Other'),
      metadata: fc.record({ path: fc.constantFrom('/pricing', '/blog') }),
    });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 20 }), fc.nat(20), (events, at) => {
        const whole = decideScore(ingested('ada', events), { score: 0 }, given).at(-1)?.score;
        const [head, tail] = [events.slice(0, at), events.slice(at)];
        let score = 0;
        for (const part of [head, tail])
          if (part.length > 0)
            score = decideScore(ingested('ada', part), { score }, given).at(-1)?.score ?? score;
        expect(score).toBe(whole);
      }),
    );
  });
});

describe('deleted leads', () => {
  const view = (lead: string): LeadCause => ({ type: 'EventsIngested', payload: ingested(lead, [{}]) });
  const gone = (lead: string): LeadCause => ({ type: 'LeadDeleted', payload: deleted(lead) });

  test('lose their score; the next event begins from zero', () => {
    const events = decideLeads([view('ada'), gone('ada'), view('ada')], () => ({ score: 7 }), viewRules);
    expect(events).toMatchObject([
      { type: 'LeadScored', payload: { previous_score: 7, score: 17 } },
      {
        type: 'LeadRemoved',
        payload: {
          lead_id: idOf('ada'),
          previous_score: 17,
          deletion_id: idOf('deletion of ada'),
          removed_at: at,
        },
      },
      { type: 'LeadScored', payload: { new_lead: true, previous_score: 0, score: 10 } },
    ]);
    expect(events[0]?.payload).not.toHaveProperty('new_lead');
    for (const { type, payload } of causedEvents(events))
      expect(
        { LeadScored: records.leadScored, LeadRemoved: records.leadRemoved }[type].schema.safeParse(payload)
          .error,
      ).toBeUndefined();
  });

  test('that never existed are not removed, and none is removed twice', () => {
    expect(decideLeads([gone('ada'), gone('ada')], () => null, viewRules)).toEqual([]);
    expect(decideLeads([gone('ada'), gone('ada')], () => ({ score: 0 }), viewRules)).toHaveLength(1);
  });

  test('are decided the same in any division into batches', () => {
    const cause = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('ada', 'bob').map(view) },
      { weight: 1, arbitrary: fc.constantFrom('ada', 'bob').map(gone) },
    );
    const inBatches = (causes: readonly LeadCause[], sizes: readonly number[]): LeadEvent[] => {
      const leads = new Map<string, { score: number }>();
      const all: LeadEvent[] = [];
      const rest = [...causes];
      for (const size of [...sizes, causes.length]) {
        const decided = decideLeads(rest.splice(0, size), (_, lead) => leads.get(lead) ?? null, viewRules);
        for (const { type, payload } of decided)
          if (type === 'LeadRemoved') leads.delete(payload.lead_id);
          else leads.set(payload.lead_id, payload);
        all.push(...decided);
      }
      return all;
    };
    fc.assert(
      fc.property(
        fc.array(cause, { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 6 }),
        (causes, sizes) => {
          expect(inBatches(causes, sizes)).toEqual(
            inBatches(
              causes,
              causes.map(() => 1),
            ),
          );
        },
      ),
    );
  });
});

test('a batch in which very many rules match is refused; one record alone never is', () => {
  const many: LeadCause[] = [{ type: 'EventsIngested', payload: ingested('ada', [{}, {}]) }];
  expect(decideLeads([...many, ...many], () => null, viewRules, 3)).toBeNull();
  expect(decideLeads(many, () => null, viewRules, 1)).toHaveLength(1);
});
