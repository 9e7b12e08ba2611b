// Given an OU's levels, when a decision takes a lead over one of their bounds, then a crossing follows it.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { levelOf } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { decideLeads } from '../scores/decide.js';
import type { LeadCause, ScoreEvent } from '../scores/messages.js';
import { compileRules, type CompiledRules } from '../scores/rule-model.js';
import {
  at,
  createRule,
  deleted,
  idOf,
  ingested,
  ouId,
  setLevels,
  type LevelBuilder,
} from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { withCrossings } from './crossings.js';

const rulesOf = (...commands: ConfigurationCommand[]): CompiledRules => compileRules(configured(...commands));

const ids = { Cold: idOf('Cold'), Warm: idOf('Warm'), Hot: idOf('Hot') };
const levels: LevelBuilder[] = [
  ['Cold', null, 19, { id: ids.Cold }],
  ['Warm', 20, 49, { id: ids.Warm }],
  ['Hot', 50, null, { id: ids.Hot }],
];
/** A view gives ten points; a bounce takes forty. */
const commands = [createRule('view'), createRule('bounce', { event_type: 'Bounce', weight: -40 })];
const withLevels = rulesOf(...commands, setLevels(levels));
const withoutLevels = rulesOf(...commands);

const views = (lead: string, count: number, more: Partial<records.EventsIngested> = {}): LeadCause => ({
  type: 'EventsIngested',
  payload: {
    ...ingested(
      lead,
      Array.from({ length: count }, () => ({})),
    ),
    ...more,
  },
});
const bounce = (lead: string): LeadCause => ({
  type: 'EventsIngested',
  payload: ingested(lead, [{ event_type: 'Bounce' }]),
});
const gone = (lead: string): LeadCause => ({ type: 'LeadDeleted', payload: deleted(lead) });

function decide(
  causes: LeadCause[],
  rules: CompiledRules,
  before: number | null = null,
): readonly ScoreEvent[] {
  const decided = decideLeads(
    causes,
    () => (before === null ? null : { score: before }),
    () => rules,
  );
  return withCrossings(decided, () => rules.levels);
}
const crossingsIn = (events: readonly ScoreEvent[]) =>
  events.flatMap(({ type, payload }) => (type === 'LeadLevelChanged' ? [payload] : []));

describe('a decision', () => {
  test('that crosses a bound is followed by the crossing, with what the decision says', () => {
    const [decision, crossing, ...more] = decide([views('ada', 2, { fire_triggers: false })], withLevels, 35);
    expect(more).toEqual([]);
    expect(decision).toMatchObject({ type: 'LeadScored', payload: { previous_score: 35, score: 55 } });
    expect(crossing).toEqual({
      type: 'LeadLevelChanged',
      payload: {
        ou_id: ouId,
        lead_id: idOf('ada'),
        score_type: 'engagement',
        previous_level_id: ids.Warm,
        level_id: ids.Hot,
        level_name: 'Hot',
        previous_score: 35,
        score: 55,
        configuration_version: withLevels.version,
        changed_at: at,
        cause: 'events',
        fire_triggers: false,
      },
    });
    expect(records.leadLevelChanged.schema.safeParse(crossing?.payload).error).toBeUndefined();
  });

  test('within a level is followed by none', () => {
    expect(decide([views('ada', 1)], withLevels, 20)).toHaveLength(1);
  });

  test('on a new lead is followed by its first level, which it comes to from none', () => {
    expect(crossingsIn(decide([views('ada', 1)], withLevels))).toMatchObject([
      { previous_level_id: null, level_id: ids.Cold, previous_score: 0, score: 10 },
    ]);
    expect(crossingsIn(decide([views('ada', 1)], withLevels, 0))).toEqual([]);
  });

  test('that removes a lead is followed by none; the lead that begins again comes from no level', () => {
    const events = decide([views('ada', 6), gone('ada'), views('ada', 6)], withLevels, 0);
    expect(events.map(({ type }) => type)).toEqual([
      ...['LeadScored', 'LeadLevelChanged', 'LeadRemoved'],
      ...['LeadScored', 'LeadLevelChanged'],
    ]);
    expect(crossingsIn(events)).toMatchObject([
      { previous_level_id: ids.Cold, level_id: ids.Hot },
      { previous_level_id: null, level_id: ids.Hot },
    ]);
  });

  test('of an OU without levels is followed by none', () => {
    expect(crossingsIn(decide([views('ada', 9), bounce('ada')], withoutLevels))).toEqual([]);
  });

  test('under other levels than the one before compares both of its scores by its own: the new list moved nobody', () => {
    const lower = rulesOf(...commands, setLevels(levels), setLevels([['Hot', 5, null, { id: ids.Hot }]]));
    expect(crossingsIn(decide([views('ada', 1)], lower, 30))).toEqual([]);
    expect(crossingsIn(decide([bounce('ada')], lower, 30))).toMatchObject([
      { previous_level_id: ids.Hot, level_id: null, level_name: null },
    ]);
  });
});

describe('however events are divided', () => {
  const cause = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom('ada', 'bob'), fc.integer({ min: 1, max: 4 }))
        .map(([lead, count]) => views(lead, count)),
    },
    { weight: 2, arbitrary: fc.constantFrom('ada', 'bob').map(bounce) },
    { weight: 1, arbitrary: fc.constantFrom('ada', 'bob').map(gone) },
  );

  /** Decided in batches of these sizes, with scores as the events before have left them. */
  function inBatches(causes: readonly LeadCause[], sizes: readonly number[]): ScoreEvent[] {
    const leads = new Map<string, { score: number }>();
    const all: ScoreEvent[] = [];
    const rest = [...causes];
    for (const size of [...sizes, causes.length]) {
      const decided = decideLeads(
        rest.splice(0, size),
        (_, lead) => leads.get(lead) ?? null,
        () => withLevels,
      );
      for (const { type, payload } of decided)
        if (type === 'LeadRemoved') leads.delete(payload.lead_id);
        else leads.set(payload.lead_id, payload);
      all.push(...withCrossings(decided, () => withLevels.levels));
    }
    return all;
  }

  test('into batches, the crossings are the same, and follow their decisions', () => {
    fc.assert(
      fc.property(
        fc.array(cause, { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 6 }),
        (causes, sizes) => {
          const events = inBatches(causes, sizes);
          expect(events).toEqual(
            inBatches(
              causes,
              causes.map(() => 1),
            ),
          );
          for (const [index, { type, payload }] of events.entries()) {
            if (type !== 'LeadLevelChanged') continue;
            const { lead_id, previous_score, score, configuration_version } = payload;
            expect(events[index - 1]).toMatchObject({
              type: 'LeadScored',
              payload: { lead_id, previous_score, score, configuration_version },
            });
          }
        },
      ),
    );
  });

  test('a consumer that folds crossings and removals alone knows the level of every lead', () => {
    fc.assert(
      fc.property(fc.array(cause, { maxLength: 30 }), (causes) => {
        const scores = new Map<string, number>();
        const levelIds = new Map<string, string | null>();
        for (const { type, payload } of inBatches(causes, []))
          switch (type) {
            case 'LeadScored':
              scores.set(payload.lead_id, payload.score);
              break;
            case 'LeadLevelChanged':
              expect(payload.previous_level_id).toBe(levelIds.get(payload.lead_id) ?? null);
              levelIds.set(payload.lead_id, payload.level_id);
              break;
            case 'LeadRemoved':
              scores.delete(payload.lead_id);
              levelIds.delete(payload.lead_id);
              break;
            case 'LeadContributed':
            case 'DealsIgnored':
              break;
            case 'ScoreAdjusted':
              throw new Error('events of a lead adjust no score');
          }
        for (const [lead, score] of scores)
          expect(levelIds.get(lead)).toBe(levelOf(withLevels.levels, score)?.id);
      }),
    );
  });
});
