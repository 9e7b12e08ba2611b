// The laws of a replay, on random histories: by the rules that were in force it gives the scores that live scoring gave, whatever the
// batches and the groups of leads; a draft that changes nothing moves nobody; and nothing that came with an outcome or after it counts.
import { describe, expect, test } from '@jest/globals';
import type { ScoringConfiguration } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import type { Lead } from '../leads/state.js';
import { ScoringInMemory } from '../reference/scoring-in-memory.js';
import { compileRules } from '../scores/rule-model.js';
import { createRule, deleted, idOf, ingested } from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import {
  base,
  commands,
  decays,
  event,
  histories,
  longHistories,
  names,
  Player,
  profiles,
  timeOf,
  type Step,
} from '../testing/histories.js';
import { alwaysInForce } from './draft-model.js';
import { foundIn, joinedFound, withReasons } from './found-model.js';
import { PointTally, reasonsOf } from './reasons-model.js';
import { Outcomes, Replay, type Outcome, type ReplayedRange, type Sides } from './replay-model.js';
import type { Happening } from './track-model.js';

/** Plays the steps to live scoring. @returns what happened, and when the last of it was decided */
function played(
  steps: readonly Step[],
  live = new ScoringInMemory(),
): { happenings: Happening[]; until: string } {
  const player = new Player(live);
  player.play(steps);
  return { happenings: player.happenings, until: player.end() };
}

const outcome = { event_type: 'Deal Won' };

interface ReplaySettings {
  live: ScoringConfiguration;
  draft?: ScoringConfiguration;
  range: ReplayedRange;
  outcome?: Outcome;
  /** The happenings of one batch. */
  batch?: number;
}

/** The points of the leads of each replay. */
const talliesOf = new WeakMap<Replay, Sides<PointTally>>();

function replayed(
  happenings: readonly Happening[],
  { live, draft = live, range, outcome, batch = happenings.length }: ReplaySettings,
): Replay {
  const rules = { live: compileRules(alwaysInForce(live)), draft: compileRules(alwaysInForce(draft)) };
  const tallies = { live: new PointTally('engagement'), draft: new PointTally('engagement') };
  const replay = new Replay(rules, range, { outcome, observers: tallies });
  talliesOf.set(replay, tallies);
  for (let from = 0; from < happenings.length; from += Math.max(1, batch))
    replay.take(happenings.slice(from, from + Math.max(1, batch)));
  const { disordered } = replay;
  replay.takeAgain(happenings.filter(({ payload }) => disordered.has(payload.lead_id)));
  replay.end();
  return replay;
}

/** The leads in the order of their ids, without their offsets and their entries in the index of due leads, which a replay does not know. */
const withoutPlaces = (leads: ReadonlyMap<string, Lead>) =>
  [...leads]
    .map(([id, lead]) => [id, { ...lead, offset: 0, first_offset: 0, due_entry: undefined }] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));

test('by the rules that were in force it gives the leads that live scoring has, whatever the batches', () => {
  fc.assert(
    fc.property(histories, fc.integer({ min: 1, max: 5 }), (steps, batch) => {
      const live = new ScoringInMemory();
      for (const command of [...commands, ...decays, ...profiles]) live.command(command);
      const { happenings, until } = played(steps, live);
      const replay = replayed(happenings, { live: live.configuration, range: { until }, batch });
      // Decay rules are named by when they count from, which no lead remembers.
      expect(withoutPlaces(replay.whole.live.leads)).toEqual(withoutPlaces(live.leads));
    }),
  );
});

function foundOf(replay: Replay, live: ScoringConfiguration, draft: ScoringConfiguration) {
  const tallies = talliesOf.get(replay);
  if (!tallies) throw new Error('nobody has counted the points of the replay');
  const configurations = { live, draft };
  return withReasons(foundIn(replay, { configurations, score_type: 'engagement' }), tallies, configurations);
}

test('a draft that changes nothing moves nobody', () => {
  const live = configured(...commands, ...decays, ...profiles);
  fc.assert(
    fc.property(histories, (steps) => {
      const { happenings, until } = played(steps);
      const outcome = { event_type: 'deal_won' };
      const replay = replayed(happenings, { live, range: { until }, outcome });
      expect(withoutPlaces(replay.whole.draft.leads)).toEqual(withoutPlaces(replay.whole.live.leads));
      const found = foundOf(replay, live, live);
      expect(found.draft).toEqual(found.live);
      expect(found).toMatchObject({ rising: 0, falling: 0, crossing: 0, movers: [] });
    }),
  );
});

const drafted = configured(
  ...commands,
  ...decays,
  ...profiles,
  createRule('other', { event_type: 'Other', weight: 25, ...base }),
  createRule('less', { weight: -2, ...base }),
);

test('the findings of groups of leads, joined, are those of all leads at once', () => {
  const live = configured(...commands, ...decays, ...profiles);
  fc.assert(
    fc.property(histories, fc.nat(names.length), (steps, size) => {
      const { happenings, until } = played(steps);
      const found = (own: readonly Happening[]) => {
        const replay = replayed(own, { live, draft: drafted, range: { until }, outcome });
        return foundOf(replay, live, drafted);
      };
      const first = new Set(names.slice(0, size).map(idOf));
      const of = (isWanted: (lead: string) => boolean) =>
        happenings.filter(({ payload }) => isWanted(payload.lead_id));
      const joined = joinedFound(found(of((id) => first.has(id))), found(of((id) => !first.has(id))));
      const all = found(happenings);
      const inOrder = ({ cells, ...side }: typeof all.live) => ({ ...side, cells: new Set(cells) });
      expect({ ...joined, live: inOrder(joined.live), draft: inOrder(joined.draft) }).toEqual({
        ...all,
        live: inOrder(all.live),
        draft: inOrder(all.draft),
      });
    }),
  );
});

test('the reasons of a lead add up to its move', () => {
  const live = configured(...commands, ...decays, ...profiles);
  fc.assert(
    fc.property(histories, (steps) => {
      const { happenings, until } = played(steps);
      const tallies = { live: new PointTally('engagement'), draft: new PointTally('engagement') };
      const rules = { live: compileRules(alwaysInForce(live)), draft: compileRules(alwaysInForce(drafted)) };
      const replay = new Replay(rules, { until }, { observers: tallies });
      replay.take(happenings);
      replay.end();
      for (const [id, { score }] of replay.whole.live.leads) {
        const reasons = reasonsOf(id, tallies, { live, draft: drafted });
        const moved = reasons.reduce((sum, reason) => sum + reason.draft - reason.live, 0);
        expect(moved).toBe((replay.whole.draft.leads.get(id)?.score ?? 0) - score);
      }
    }),
  );
});

describe('an outcome', () => {
  const happened = { path: undefined, title: undefined } as const;
  const live = configured(...commands, ...profiles);

  test('is judged by the events before it alone, in whichever order they came', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        // A reset counts at the moment at which it was decided, and not at that of an event.
        const { happenings, until } = played(steps.filter(({ does }) => does !== 'reset'));
        const replay = replayed(happenings, { live, range: { until }, outcome });
        for (const [id, to] of replay.outcomeTimes ?? []) {
          const before = replayed(happenings, { live, range: { to, until } });
          const [judged, cut] = [replay.before.live.leads.get(id), before.whole.live.leads.get(id)];
          expect([judged?.score, judged?.profile?.score]).toEqual([cut?.score, cut?.profile?.score]);
        }
      }),
    );
  });

  test('finds the same before it, whether a history is read once or a second time when the outcome is known', () => {
    const fading = configured(...commands, ...decays, ...profiles);
    fc.assert(
      fc.property(longHistories, fc.constantFrom(live, fading), (steps, configuration) => {
        const { happenings, until } = played(steps);
        const settings = { live: configuration, draft: drafted, range: { until }, outcome };
        const once = replayed(happenings, settings);
        const again = replayed(happenings, settings);
        for (const track of [again.before.live, again.before.draft]) track.leads.clear();
        again.takeAgain(happenings);
        again.end();
        for (const side of ['live', 'draft'] as const)
          expect(withoutPlaces(once.before[side].leads)).toEqual(withoutPlaces(again.before[side].leads));
      }),
    );
  });

  test('does not see a reset that was decided after its time, although the reset was recorded first', () => {
    const at = (event_type: string, hour: number) => ({ ...happened, event_type, hour });
    const { happenings, until } = played([
      { does: 'events', lead: 'ada', events: [at('Page View', 1)] },
      { does: 'reset', lead: 'ada' },
      { does: 'events', lead: 'ada', events: [at('Deal Won', 50)] },
    ]);
    const { whole, before } = replayed(happenings, { live, range: { until }, outcome });
    expect(whole.live.leads.get(idOf('ada'))?.score).toBe(0);
    expect(before.live.leads.get(idOf('ada'))?.score).toBe(11);
  });

  test('does not depend on anything that happens with it or later', () => {
    const won = { ...happened, event_type: 'Deal Won', hour: 50 };
    fc.assert(
      fc.property(histories, fc.array(event, { maxLength: 6 }), (steps, more) => {
        const later = more.map((one) => ({ ...one, hour: 50 + (one.hour % 100) }));
        const judged = (events: (typeof won)[]) => {
          const { happenings, until } = played([
            ...steps.filter(({ does }) => does !== 'delete'),
            { does: 'events', lead: 'ada', events: [won, ...events] as never },
          ]);
          return replayed(happenings, { live, range: { until }, outcome }).before.live.leads.get(idOf('ada'));
        };
        expect(judged(later as never)?.score).toEqual(judged([])?.score);
      }),
    );
  });

  test('may be a field of the metadata, and the earliest event counts', () => {
    const outcomes = new Outcomes({ field: 'Converted', operator: 'equals', value: 1 }, { until: timeOf(0) });
    const at = (hour: number, Converted: number) => ({ timestamp: timeOf(hour), metadata: { Converted } });
    outcomes.take([
      { type: 'EventsIngested', payload: ingested('ada', [at(9, 1), at(3, 0), at(5, 1)]) },
      { type: 'EventsIngested', payload: ingested('grace', [at(1, 1)]) },
      { type: 'LeadDeleted', payload: deleted('grace') },
    ]);
    expect([...outcomes.times]).toEqual([[idOf('ada'), timeOf(5)]]);
  });

  test('takes nothing from a lead that fades only after it', () => {
    const fading = configured(...commands, ...decays.slice(0, 1));
    const view = { event_type: 'Page View', timestamp: timeOf(0) };
    const happenings: Happening[] = [
      {
        type: 'EventsIngested',
        payload: ingested('ada', [view], { received_at: timeOf(1) }),
        source: { offset: 0 },
      },
      {
        type: 'EventsIngested',
        payload: ingested('ada', [{ event_type: 'Deal Won', timestamp: timeOf(24) }], {
          received_at: timeOf(24),
        }),
        source: { offset: 1 },
      },
    ];
    const until = timeOf(24 * 100);
    const replay = replayed(happenings, { live: fading, range: { until }, outcome });
    expect(replay.before.live.leads.get(idOf('ada'))?.score).toBe(11);
    expect(replay.whole.live.leads.get(idOf('ada'))?.score).toBe(0);
  });
});

test('a range takes the events of its time, and leads without one are not in it', () => {
  const live = configured(...commands);
  const view = (hour: number) => ({ event_type: 'Page View', timestamp: timeOf(hour) });
  const happenings: Happening[] = [
    {
      type: 'EventsIngested',
      payload: ingested('ada', [view(1), view(10), view(20)]),
      source: { offset: 0 },
    },
    { type: 'EventsIngested', payload: ingested('grace', [view(30)]), source: { offset: 1 } },
  ];
  const { leads } = replayed(happenings, {
    live,
    range: { from: timeOf(1), to: timeOf(20), until: timeOf(20) },
  }).whole.live;
  // Two views of one path.
  expect([...leads.values()].map(({ score }) => score)).toEqual([18]);
});
