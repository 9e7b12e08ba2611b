// Given leads of an OU with decay rules, when ticks are due, events come or scores are reset, then each tick is a decision of its own.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { adjustedLead } from '../leads/fold-adjusted.js';
import { foldLead } from '../leads/fold.js';
import type { Lead } from '../leads/state.js';
import { withCrossings } from '../levels/crossings.js';
import { withProfiles } from '../profile/decide-batch.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause, LeadEvent } from '../scores/messages.js';
import { decideResets } from '../scores/resets.js';
import { compileRules, type CompiledRules } from '../scores/rule-model.js';
import {
  createProfileRule,
  createRule,
  createRuleset,
  idOf,
  ingested,
  ouId,
  resetScores,
  setLevels,
} from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { createDecay } from '../testing/decay-builders.js';
import { decideTicks } from './decide-ticks.js';

const on = (day: number) => new Date(Date.UTC(2026, 0, 1 + day, 12)).toISOString();

const rulesOf = (...commands: ConfigurationCommand[]): CompiledRules => compileRules(configured(...commands));

const view = createRule('view', { weight: 20 });
const rules = rulesOf(view, createDecay('Weekly', { requested_at: on(0) }));

const viewed = (day: number, offset: number, more: Partial<records.EventsIngested> = {}): LeadCause => ({
  type: 'EventsIngested',
  payload: ingested('ada', [{ timestamp: on(day) }], { received_at: on(day), ...more }),
  source: { offset },
});

const decide = (causes: LeadCause[], before: Lead | null, by = rules): LeadEvent[] =>
  decideLeads(
    causes,
    () => before,
    () => by,
  );

function folded(events: readonly LeadEvent[], before: Lead | null = null): Lead {
  const lead = events.reduce<Lead | null>((known, event, index) => {
    if (event.type === 'LeadScored') return foldLead(known, event.payload, (known?.offset ?? -1) + index + 1);
    return known && event.type === 'ScoreAdjusted' ? adjustedLead(known, event.payload) : null;
  }, before);
  if (!lead) throw new Error('there is no lead');
  return lead;
}
const ada = folded(decide([viewed(0, 0)], null));
const timesIn = (events: readonly LeadEvent[]) =>
  events.map(({ type, payload }) => (type === 'ScoreAdjusted' ? payload.as_of : type));

test('a decision on events says when points fade next; without decay rules it does not', () => {
  expect(decide([viewed(0, 0)], null)[0]?.payload).toMatchObject({ decay_due_at: on(7) });
  expect(decide([viewed(0, 0)], null, rulesOf(view))[0]?.payload).not.toHaveProperty('decay_due_at');
  const nothing = decide([viewed(0, 0)], null, rulesOf(createDecay('Weekly', { requested_at: on(0) })));
  expect(nothing[0]?.payload).toMatchObject({ score: 0, decay_due_at: null });
});

test('a tick is recorded with its time, its rule and the next one', () => {
  const { events } = decideTicks({ ou_id: ouId, lead_id: ada.id }, ada, rules, {
    upTo: on(15),
    decidedAt: on(16),
  });
  for (const event of events) expect(records.scoreAdjusted.schema.safeParse(event).error).toBeUndefined();
  expect(events).toEqual([
    {
      ou_id: ouId,
      lead_id: idOf('ada'),
      score_type: 'engagement',
      previous_score: 20,
      score: 15,
      configuration_version: rules.version,
      adjustments: [{ reason: 'decay', points: -5, rule_id: idOf('Weekly'), rule_version: 1, tick: 1 }],
      decided_at: on(16),
      as_of: on(7),
      fire_triggers: true,
      decay_due_at: on(14),
    },
    expect.objectContaining({ previous_score: 15, score: 10, as_of: on(14), decay_due_at: on(21) }),
  ]);
});

test('what is folded is not decided again, and at most so many are decided at once', () => {
  const moment = { upTo: on(15), decidedAt: on(15) };
  const identity = { ou_id: ouId, lead_id: ada.id };
  const first = decideTicks(identity, ada, rules, { ...moment, maximum: 1 });
  expect(first.events.map(({ as_of }) => as_of)).toEqual([on(7)]);
  const lead = first.events.reduce(adjustedLead, ada);
  expect(decideTicks(identity, lead, rules, moment).events.map(({ as_of }) => as_of)).toEqual([on(14)]);
});

describe('events', () => {
  test('come after the ticks that were due before them, and ticks begin anew', () => {
    const events = decide([viewed(16, 1)], ada);
    expect(timesIn(events)).toEqual([on(7), on(14), 'LeadScored']);
    expect(events.at(-1)?.payload).toMatchObject({ previous_score: 10, score: 30, decay_due_at: on(23) });
    expect(folded(events, ada)).toMatchObject({
      score: 30,
      last_scored_at: on(16),
      decay: { due_at: on(23) },
    });
  });

  test('that are old do not make up for ticks since, and do not move the times', () => {
    const events = decide([viewed(2, 1, { received_at: on(10) })], ada);
    expect(timesIn(events)).toEqual([on(7), 'LeadScored']);
    expect(folded(events, ada)).toMatchObject({
      last_scored_at: on(2),
      decay: { since: on(10), due_at: on(16) },
    });
    const older = decide([viewed(-30, 1, { received_at: on(3) })], ada);
    expect(folded(older, ada)).toMatchObject({ score: 40, last_scored_at: on(0), decay: { due_at: on(7) } });
  });

  test('of an imported history fade from now on', () => {
    const [decision] = decide([viewed(-365, 0, { received_at: on(0) })], null);
    const due = (decision?.payload as records.LeadScored | undefined)?.decay_due_at ?? '';
    expect(due > on(0) && due <= on(7)).toBe(true);
  });

  test('that no rule matches change nothing about ticks', () => {
    const other: LeadCause = {
      type: 'EventsIngested',
      payload: ingested('ada', [{ timestamp: on(3), event_type: 'Other' }], { received_at: on(3) }),
      source: { offset: 1 },
    };
    const [decision] = decide([other], ada);
    expect(decision?.payload).toMatchObject({ score: 20, decay_due_at: on(7) });
    expect(decision && folded([decision], ada)).toMatchObject({
      last_scored_at: on(0),
      decay: { due_at: on(7) },
    });
  });

  test('are given their profile values, whatever ticks come between', () => {
    const profiled = rulesOf(
      view,
      createDecay('Weekly', { requested_at: on(0) }),
      createRuleset('Fit', { score_type: 'profile' }),
      createProfileRule('acme', [{ field: 'company', operator: 'equals', value: 'Acme' }]),
    );
    const causes = [viewed(8, 1), viewed(16, 2)];
    const events = withProfiles(decide(causes, ada, profiled), causes, {
      profileOf: () => profiled.profile,
      versionOf: () => profiled.version,
      leadBefore: () => ada,
    });
    expect(timesIn(events ?? [])).toEqual([on(7), 'LeadScored', on(15), 'LeadScored']);
  });
});

test('a reset comes after the ticks that were due before it', () => {
  const decided = new Map<string, Lead>();
  const [reset] = decideResets(
    [resetScores('ada', { requested_at: on(9) })],
    () => ada,
    () => rules,
    decided,
  );
  if (reset?.outcome !== 'reset') throw new Error('not decided');
  expect(reset.ticks).toMatchObject([{ as_of: on(7), score: 15 }]);
  expect(reset.event).toMatchObject({ previous_score: 15, score: 0, decay_due_at: null });
  expect([...decided.values()]).toMatchObject([{ score: 0, decay: { since: on(9) } }]);
});

test('a crossing of levels names its cause: a tick, and nothing else without events', () => {
  const { levels } = rulesOf(
    setLevels([
      ['Cold', null, 19],
      ['Warm', 20, null],
    ]),
  );
  const [tick] = decideTicks({ ou_id: ouId, lead_id: ada.id }, ada, rules, {
    upTo: on(8),
    decidedAt: on(8),
  }).events;
  if (!tick) throw new Error('nothing is due');
  const followed = withCrossings([{ type: 'ScoreAdjusted', payload: tick }], () => levels);
  expect(followed[1]).toMatchObject({
    type: 'LeadLevelChanged',
    payload: { cause: 'decay', level_name: 'Cold' },
  });
  const held = { ...tick, adjustments: [{ reason: 'held_at_largest_score' as const, points: -5 }] };
  expect(() => withCrossings([{ type: 'ScoreAdjusted', payload: held }], () => levels)).toThrow('reason');
});
