// Triggers in a what-if: on the live side each fires as often as a simulation over the recorded decisions says, whatever the batches and the
// groups of leads; on the side of the draft by what the draft gives.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import {
  compileAlone,
  createdTrigger,
  decideIngestedHistory,
  decideScoredHistory,
  initialLeadState,
  isFired,
  type FiringDraft,
  type HistoryDecision,
  type LeadState,
} from '@lead-scoring/scoring-domain/triggers';
import fc from 'fast-check';
import { ScoringInMemory } from '../reference/scoring-in-memory.js';
import { compileRules } from '../scores/rule-model.js';
import { createRule, idOf, ingested, ouId } from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { base, commands, longHistories, names, Player, profiles, timeOf } from '../testing/histories.js';
import type { DefinedTrigger } from '../trigger-definitions/documents.js';
import { alwaysInForce } from './draft-model.js';
import { Replay, type ReplayedRange } from './replay-model.js';
import type { Happening } from './track-model.js';
import {
  isEvaluated,
  joinedTriggers,
  triggersAnswered,
  TriggerTallies,
  unchangedTriggers,
} from './trigger-model.js';

type Definition = records.TriggerDefinition;
const common = { active: true, channel_ids: [] };
const defined = (name: string, definition: Record<string, unknown>): DefinedTrigger => ({
  id: idOf(name),
  definition: { name, ...common, ...definition } as unknown as Definition,
  at: timeOf(0),
});
const milestone = (name: string, more: Record<string, unknown>) =>
  defined(name, {
    kind: 'milestone',
    score_type: 'engagement',
    direction: 'up',
    rearm: { cooldown_seconds: 0 },
    ...more,
  });
const triggers = [
  milestone('ten', { score_threshold: 10 }),
  milestone('hot', { level: 'hot', rearm: { below: 20, cooldown_seconds: 3_600 } }),
  milestone('cooling', { score_threshold: 12, direction: 'down' }),
  milestone('by mail', { score_threshold: 9, event_type: 'Email Open' }),
  milestone('chief', { score_type: 'profile', score_threshold: 5 }),
  defined('surge', {
    kind: 'surge',
    score_type: 'engagement',
    event_type: null,
    threshold: 15,
    window_seconds: 30 * 24 * 3_600,
    cooldown_seconds: 3_600,
  }),
  defined('sequence', {
    kind: 'sequence',
    ordered: false,
    window_seconds: 60 * 24 * 3_600,
    cooldown_seconds: 0,
    steps: [
      {
        event_type: 'Page View',
        attribute_filters: [{ field: 'path', operator: 'equals', value: '/pricing' }],
      },
      { event_type: 'Email Open', attribute_filters: [] },
    ],
  }),
];

interface Settings {
  live: ScoringConfiguration;
  draft?: ScoringConfiguration;
  range: ReplayedRange;
  batch?: number;
  evaluated?: readonly DefinedTrigger[];
}

function foundBy(
  happenings: readonly Happening[],
  { live, draft = live, range, batch = 7, evaluated = triggers }: Settings,
) {
  const configurations = { live: alwaysInForce(live), draft: alwaysInForce(draft) };
  const rules = { live: compileRules(configurations.live), draft: compileRules(configurations.draft) };
  const tallies = new TriggerTallies(evaluated, configurations);
  const { observers, takeHappenings: onHappenings } = tallies;
  const replay = new Replay(rules, range, { observers, onHappenings });
  for (let from = 0; from < happenings.length; from += batch)
    replay.take(happenings.slice(from, from + batch));
  replay.end();
  return tallies.found();
}

const byName = (found: ReturnType<typeof foundBy>) =>
  new Map(
    triggers.map(({ id, definition: { name } }) => {
      const { live = 0, draft = 0 } = found.find((one) => one.id === id) ?? {};
      return [name, [live, draft]];
    }),
  );

/** How often a trigger fires by the decisions that were recorded: what its simulation counts. */
function simulated(
  { id, definition, at }: DefinedTrigger,
  { log, configuration }: ScoringInMemory,
  happenings: readonly Happening[],
): number {
  const trigger = createdTrigger({ trigger_id: id, ou_id: ouId, definition, version: 1, at }, 0);
  const { levels, profile_levels } = configuration;
  const compiled = compileAlone(trigger, { levels, ...(profile_levels && { profile_levels }) });
  let total = 0;
  for (const leadId of names.map(idOf)) {
    let state: LeadState = initialLeadState(ouId, leadId);
    let fired: FiringDraft[] = [];
    const context = () => ({ triggers: compiled, stateBefore: () => state, before: timeOf(100_000) });
    const take = ({ events, state: after }: HistoryDecision) => {
      state = after ?? state;
      fired.push(...events.filter(isFired));
    };
    const forget = () => ([state, fired] = [initialLeadState(ouId, leadId), []]);
    if (definition.kind === 'sequence')
      for (const { type, payload } of happenings) {
        if (payload.lead_id !== leadId) continue;
        if (type === 'LeadDeleted') forget();
        if (type === 'EventsIngested') take(decideIngestedHistory(payload, context()));
      }
    else
      for (const { type, payload } of log) {
        if (!('lead_id' in payload) || payload.lead_id !== leadId) continue;
        if (type === 'LeadRemoved') forget();
        if (type === 'LeadScored' || type === 'ScoreAdjusted')
          take(decideScoredHistory(payload, () => null, context()));
      }
    total += fired.length;
  }
  return total;
}

test('on the live side each trigger fires as often as its simulation says, whatever the batches', () => {
  fc.assert(
    fc.property(longHistories, fc.integer({ min: 1, max: 9 }), (steps, batch) => {
      const live = new ScoringInMemory();
      for (const command of [...commands, ...profiles]) live.command(command);
      const player = new Player(live);
      player.play(steps);
      const found = foundBy(player.happenings, {
        live: live.configuration,
        range: { until: player.now },
        batch,
      });
      expect(byName(found)).toEqual(
        new Map(
          triggers.map((trigger) => {
            const total = simulated(trigger, live, player.happenings);
            return [trigger.definition.name, [total, total]];
          }),
        ),
      );
    }),
  );
});

test('the counts of groups of leads, joined, are those of all leads at once', () => {
  const live = configured(...commands, ...profiles);
  const draft = configured(
    ...commands,
    ...profiles,
    createRule('other', { event_type: 'Other', weight: 25 }),
  );
  fc.assert(
    fc.property(longHistories, fc.nat(names.length), (steps, size) => {
      const player = new Player(new ScoringInMemory());
      player.play(steps);
      const first = new Set(names.slice(0, size).map(idOf));
      const of = (isWanted: (lead: string) => boolean) =>
        foundBy(
          player.happenings.filter(({ payload }) => isWanted(payload.lead_id)),
          { live, draft, range: { until: player.now } },
        );
      const joined = joinedTriggers(
        of((id) => first.has(id)),
        of((id) => !first.has(id)),
      );
      expect(byName(joined)).toEqual(byName(of(() => true)));
    }),
  );
});

describe('a draft', () => {
  const view = (lead: string, hour: number): Happening => ({
    type: 'EventsIngested',
    payload: ingested(lead, [{ timestamp: timeOf(hour), id: idOf(`${lead} ${String(hour)}`) }], {
      received_at: timeOf(1_000),
      fire_triggers: false,
    }),
  });
  const live = configured(createRule('view', base));
  const draft = configured(createRule('view', { ...base, weight: 30 }));
  const history = [view('ada', 1), view('ada', 2), view('grace', 1)];
  const range = { until: timeOf(1_001) };

  test('that gives more points makes triggers by scores fire more often, and sequences as often; imported history counts', () => {
    const evaluated = [milestone('ten', { score_threshold: 25 }), ...triggers.slice(5)];
    const found = foundBy(history, { live, draft, range, evaluated });
    expect(found).toHaveLength(2);
    expect(found).toContainEqual({ id: idOf('ten'), live: 0, draft: 2 });
    expect(found).toContainEqual({ id: idOf('surge'), live: 1, draft: 3 });
  });

  test('is judged by the filter of a trigger, on the lead as it is then', () => {
    const hot = { all: [{ field: 'score', operator: 'gte', value: 50 }] };
    const filter = { id: idOf('hot'), name: 'hot', conditions: hot, created_at: base.requested_at };
    const filtered = (configuration: ScoringConfiguration) => ({
      ...configuration,
      filters: new Map([[filter.id, filter as never]]),
    });
    const evaluated = [
      milestone('with a filter', { score_threshold: 55, filter_id: filter.id }),
      milestone('whose filter is gone', { score_threshold: 5, filter_id: idOf('gone') }),
    ];
    expect(foundBy(history, { live: filtered(live), draft: filtered(draft), range, evaluated })).toEqual([
      { id: idOf('with a filter'), live: 0, draft: 1 },
    ]);
  });
});

describe('the answer', () => {
  const job = { work: { triggers: [idOf('ten'), idOf('hot'), idOf('surge')] }, started_at: timeOf(5) };
  const counts = { triggers: [{ id: idOf('hot'), live: 3, draft: 1 }] };

  test('names the triggers, those of which most changes first, also those that never fire', () => {
    const answer = triggersAnswered(unchangedTriggers(triggers, job), counts);
    expect(answer.map(({ name, kind, live, draft }) => [name, kind, live, draft])).toEqual([
      ['hot', 'milestone', 3, 1],
      ...['ten', 'surge']
        .sort((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
        .map((name) => [name, name === 'ten' ? 'milestone' : 'surge', 0, 0]),
    ]);
  });

  test('leaves out triggers that were changed, made or deleted since', () => {
    const later = triggers.map((trigger) =>
      trigger.definition.name === 'hot' ? { ...trigger, at: timeOf(6) } : trigger,
    );
    expect(unchangedTriggers(later, job).map(({ definition }) => definition.name)).toEqual(['ten', 'surge']);
    expect(unchangedTriggers([], job)).toEqual([]);
    expect(unchangedTriggers(triggers, { work: {}, started_at: timeOf(5) })).toEqual([]);
  });

  test('is about active triggers by scores that are replayed', () => {
    const evaluated = (more: Record<string, unknown>) =>
      isEvaluated(milestone('one', { score_threshold: 1, ...more }));
    expect([{}, { active: false }, { score_type: 'account' }].map(evaluated)).toEqual([true, false, false]);
  });
});
