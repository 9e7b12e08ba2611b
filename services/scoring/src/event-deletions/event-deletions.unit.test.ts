// The laws of the deletion of a type, on random histories with limits, decay rules, profiles, resets and deleted leads: the score is that of a
// history that never had the events, now and after any later history; twice is once; and no explanation names a deleted event.
import { expect, test } from '@jest/globals';
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { ConfigurationCommand } from '../configuration/messages.js';
import type { Lead } from '../leads/state.js';
import { ScoringInMemory } from '../reference/scoring-in-memory.js';
import { stateOf, textOfState } from '../rescoring/state-model.js';
import type { LeadEvent } from '../scores/messages.js';
import { compileLimits } from '../scores/limits-model.js';
import { compileRules } from '../scores/rule-model.js';
import { idOf } from '../testing/builders.js';
import {
  commands,
  decays,
  histories,
  longHistories,
  names,
  Player,
  profiles,
  type Step,
} from '../testing/histories.js';
import { decideWithout, type Deletion } from './decision-model.js';
import type { RecordedDecision } from './score-without-model.js';

const types = ['Page View', 'Email Open', 'Unsubscribe'] as const;
const configurations = fc.constantFrom(
  commands,
  [...commands, ...decays],
  [...commands, ...decays, ...profiles],
);

function started(configuration: readonly ConfigurationCommand[]): { live: ScoringInMemory; player: Player } {
  const live = new ScoringInMemory();
  for (const command of configuration) live.command(command);
  return { live, player: new Player(live) };
}

/** The same history without events of a type; a record that has lost all of them still makes its lead known. */
const without = (steps: readonly Step[], event_type: string): Step[] =>
  steps.map((step) =>
    step.does === 'events'
      ? { ...step, events: step.events.filter((event) => event.event_type !== event_type) }
      : step,
  );

function recordedOn({ log }: ScoringInMemory, { id, first_offset }: Lead): RecordedDecision[] {
  return (log.slice(first_offset) as LeadEvent[]).filter(
    (event): event is RecordedDecision =>
      (event.type === 'LeadScored' || event.type === 'ScoreAdjusted') && event.payload.lead_id === id,
  );
}

/** Deletes what there is of a type, in the order of the leads that have it. */
function deleteType(live: ScoringInMemory, event_type: string, now: string): records.ScoreAdjusted[] {
  const { configuration } = live;
  const deletion: Deletion = {
    event_type,
    before: Number.MAX_SAFE_INTEGER,
    deletion_id: idOf('deletion'),
    cleared_at: now,
  };
  const rules = { live: compileRules(configuration), limitsOf: () => compileLimits(configuration) };
  const decided = [...live.leads.values()].flatMap(
    (lead) => decideWithout(lead, recordedOn(live, lead), deletion, rules) ?? [],
  );
  // The places of later events are behind the deletion.
  for (const decision of decided) if (decision.deleted) decision.deleted.before = 1_000;
  live.adjust(decided);
  return decided;
}

const engagement = { score_type: 'engagement' } as const;
const statesOf = ({ leads }: ScoringInMemory) =>
  new Map(
    [...leads].map(([id, lead]) => [id, textOfState(stateOf(lead, engagement), engagement, () => true)]),
  );

test('a score without deleted events is that of a history that never had them, now and after any later history', () => {
  let changed = 0;
  fc.assert(
    fc.property(
      configurations,
      fc.oneof(histories, longHistories),
      histories,
      fc.constantFrom(...types),
      (configuration, earlier, later, event_type) => {
        const recorded = started(configuration);
        recorded.player.play(earlier);
        changed += deleteType(recorded.live, event_type, recorded.player.now).length;
        const fresh = started(configuration);
        fresh.player.play(without(earlier, event_type));
        for (const lead of names) fresh.live.runDecay(idOf(lead), fresh.player.now);
        for (const lead of names) recorded.live.runDecay(idOf(lead), recorded.player.now);
        expect(statesOf(recorded.live)).toEqual(statesOf(fresh.live));
        recorded.player.play(later);
        fresh.player.play(later);
        expect([recorded.player.end(), statesOf(recorded.live)]).toEqual([
          fresh.player.end(),
          statesOf(fresh.live),
        ]);
        const folded = statesOf(recorded.live);
        recorded.live.crash();
        expect(statesOf(recorded.live)).toEqual(folded);
      },
    ),
  );
  expect(changed).toBeGreaterThan(0);
});

test('a deletion that is decided twice changes a score once, and one of another type after it counts both', () => {
  fc.assert(
    fc.property(configurations, histories, (configuration, steps) => {
      const { live, player } = started(configuration);
      player.play(steps);
      deleteType(live, 'Page View', player.now);
      expect(deleteType(live, 'page_view', player.now)).toEqual([]);
      deleteType(live, 'Email Open', player.now);
      const fresh = started(configuration);
      fresh.player.play(without(without(steps, 'Page View'), 'Email Open'));
      for (const lead of names) fresh.live.runDecay(idOf(lead), fresh.player.now);
      for (const lead of names) live.runDecay(idOf(lead), player.now);
      expect(statesOf(live)).toEqual(statesOf(fresh.live));
    }),
  );
});

test('no explanation names a deleted event, at no moment of any clock, and each accounts for the whole score', () => {
  fc.assert(
    fc.property(
      configurations,
      longHistories,
      fc.constantFrom(...types),
      (configuration, steps, event_type) => {
        const { live, player } = started(configuration);
        player.play(steps);
        const moments = live.log.flatMap(({ payload }) =>
          'decided_at' in payload ? [payload.decided_at] : [],
        );
        const scores = new Map(
          [...live.leads.keys()].map((id) => [
            id,
            moments.map((moment) => [
              live.explain(id, { at: moment }).score,
              live.explain(id, { known_at: moment }).score,
            ]),
          ]),
        );
        const deletedFrom = new Set(deleteType(live, event_type, player.now).map(({ lead_id }) => lead_id));
        for (const [id, before] of scores) {
          const now = live.explain(id);
          expect(now.unattributed).toBe(0);
          const past = moments.map((moment) => [
            live.explain(id, { at: moment }),
            live.explain(id, { known_at: moment }),
          ]);
          for (const explanation of [now, ...past.flat()]) {
            expect(explanation.unattributed).toBe(0);
            const named = [...explanation.entries, ...explanation.top_drivers].map((one) =>
              eventTypeKey(one.event_type),
            );
            expect(named).not.toContain(eventTypeKey(event_type));
          }
          const isPast = (moment: string) => moment < player.now || !deletedFrom.has(id);
          past.forEach(([, known], index) => {
            if (isPast(moments[index] ?? '')) expect(known?.score).toBe(before[index]?.[1]);
          });
        }
      },
    ),
    { numRuns: 30 },
  );
});
