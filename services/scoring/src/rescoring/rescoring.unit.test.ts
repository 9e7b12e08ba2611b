// The laws of a rescoring, on random histories whose rules change in between: the new scores are those of a fresh computation of the
// whole history by the rules of now, the old ones those that live scoring has; where the rules have not changed, nobody moves.
import { describe, expect, test } from '@jest/globals';
import type { records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { ScoringInMemory } from '../reference/scoring-in-memory.js';
import type { LeadEvent } from '../scores/messages.js';
import { createProfileRule, createRule, idOf, ingested, updateRule } from '../testing/builders.js';
import { createDecay } from '../testing/decay-builders.js';
import { base, commands, decays, histories, Player, profiles, timeOf } from '../testing/histories.js';
import { joinedFound, scoreOf } from '../what-if/found-model.js';
import type { PlacedCause, PlacedDecision } from '../what-if/resets-model.js';
import { GroupRescoring, type Rescored } from './rescored-model.js';
import { rescoringResultOf } from './result-model.js';

const before = [...commands, ...decays, ...profiles];
/** Changes of every kind, as somebody makes them at a moment. */
const changes: readonly ((requested_at: string) => ConfigurationCommand)[] = [
  (requested_at) => updateRule('open', { weight: 19, cap_points: 50, requested_at }),
  (requested_at) => updateRule('view', { weight: 2, requested_at }),
  (requested_at) => createRule('other', { event_type: 'Other', weight: 25, requested_at }),
  (requested_at) =>
    createProfileRule('clerk', [{ field: 'title', operator: 'equals', value: 'Clerk' }], {
      weight: -4,
      requested_at,
    }),
  (requested_at) => createDecay('Daily', { points: -1, interval_days: 1, requested_at }),
];
type Changes = typeof changes;
const changed = fc.shuffledSubarray([...changes]);
const rescored = fc.constantFrom<Rescored>({ score_type: 'engagement' }, { score_type: 'profile' });

const leadTypes: ReadonlySet<string> = new Set(['LeadScored', 'ScoreAdjusted', 'LeadRemoved']);
const decisionsOf = ({ log }: ScoringInMemory): PlacedDecision[] =>
  log.flatMap((event, offset) => (leadTypes.has(event.type) ? [{ ...(event as LeadEvent), offset }] : []));

interface Computed {
  live: ScoringInMemory;
  player: Player;
  until: string;
}

type Steps = Parameters<Player['play']>[0];

/** A history, a change of rules, and more history. */
function computed(earlier: Steps, change: Changes, later: Steps): Computed {
  const live = new ScoringInMemory();
  const player = new Player(live);
  for (const command of before) live.command(command);
  player.play(earlier);
  for (const changeAt of change) live.command(changeAt(player.now));
  player.play(later);
  return { live, player, until: player.end() };
}

/** The same history by the changed rules from its beginning. */
function computedAnew(change: Changes, steps: Steps): Computed {
  const live = new ScoringInMemory();
  const player = new Player(live);
  for (const command of before) live.command(command);
  for (const changeAt of change) live.command(changeAt(base.requested_at));
  player.play(steps);
  return { live, player, until: player.end() };
}

/** The rescoring of what is recorded, the slices of the log taken one after the other. */
function rescoringOf(
  { live, player, until }: Computed,
  what: Rescored,
  {
    isOf = () => true,
    slice = 3,
    more = [],
  }: Partial<{ isOf: (leadId: string) => boolean; slice: number; more: PlacedCause[] }> = {},
): GroupRescoring {
  const ended = new GroupRescoring(live.configuration, what, until);
  const inSlices = <Item extends { payload: { lead_id: string } }>(
    all: readonly Item[],
    take: (some: Item[]) => void,
  ) => {
    const wanted = all.filter(({ payload }) => isOf(payload.lead_id));
    for (let from = 0; from < wanted.length; from += slice) take(wanted.slice(from, from + slice));
  };
  inSlices(decisionsOf(live), (decisions) => {
    ended.takeDecisions(decisions);
  });
  inSlices([...player.causes, ...more], (causes) => {
    ended.takeCauses(causes);
  });
  ended.end();
  return ended;
}

const scoresIn = ({ leads }: ScoringInMemory, { score_type }: Rescored) =>
  new Map([...leads].map(([id, lead]) => [id, scoreOf(lead, score_type)]));
const sideOf = (ended: GroupRescoring, side: 'live' | 'draft', { score_type }: Rescored) =>
  new Map([...ended.compared()].map((lead) => [lead.lead_id, scoreOf(lead[side], score_type)]));

test('the new scores are those of a fresh computation of the whole history, and the old ones those that live scoring has', () => {
  let moved = 0;
  fc.assert(
    fc.property(
      histories,
      histories,
      changed,
      rescored,
      fc.integer({ min: 1, max: 5 }),
      (earlier, later, change, what, slice) => {
        const recorded = computed(earlier, change, later);
        const fresh = computedAnew(change, [...earlier, ...later]);
        const ended = rescoringOf(recorded, what, { slice });
        expect(sideOf(ended, 'live', what)).toEqual(scoresIn(recorded.live, what));
        expect(sideOf(ended, 'draft', what)).toEqual(scoresIn(fresh.live, what));
        moved += ended.found().movers.length;
      },
    ),
  );
  expect(moved).toBeGreaterThan(0);
});

test('by rules that have not changed nobody moves, whatever has come in since', () => {
  fc.assert(
    fc.property(histories, histories, rescored, (earlier, later, what) => {
      const recorded = computed(earlier, [], []);
      const { player } = computed(earlier, [], later);
      const more = player.causes.slice(recorded.player.causes.length);
      const found = rescoringOf(recorded, what, { more }).found();
      expect(found).toMatchObject({
        leads: recorded.live.leads.size,
        rising: 0,
        falling: 0,
        crossing: 0,
        movers: [],
      });
      expect(found.draft).toEqual(found.live);
    }),
  );
});

test('the findings of groups of leads, joined, are those of all leads at once; and the reasons of a lead add up to its move', () => {
  fc.assert(
    fc.property(histories, histories, changed, rescored, (earlier, later, change, what) => {
      const recorded = computed(earlier, change, later);
      const first = new Set(['ada', 'linus'].map(idOf));
      const found = (isOf?: (leadId: string) => boolean) =>
        rescoringOf(recorded, what, isOf && { isOf }).found();
      const all = found();
      const joined = joinedFound(
        found((id) => first.has(id)),
        found((id) => !first.has(id)),
      );
      expect(joined).toEqual(all);
      for (const { live, draft, why } of all.movers)
        expect(why.reduce((sum, reason) => sum + reason.draft - reason.live, live)).toBe(draft);
    }),
  );
});

describe('of one ruleset', () => {
  const view = (hour: number) => ({
    event_type: 'Page View',
    timestamp: timeOf(hour),
    metadata: { path: '/' },
  });
  const cause: PlacedCause = {
    type: 'EventsIngested',
    payload: ingested('ada', [view(1), view(2), { event_type: 'Email Open', timestamp: timeOf(3) }], {
      received_at: timeOf(4),
    }),
    source: { offset: 0 },
  };
  const rescoringAfter = (...change: ConfigurationCommand[]) => {
    const live = new ScoringInMemory();
    for (const command of commands) live.command(command);
    live.decide([cause]);
    for (const command of change) live.command(command);
    const ended = new GroupRescoring(
      live.configuration,
      { score_type: 'engagement', ruleset_id: idOf('Web') },
      timeOf(5),
    );
    ended.takeDecisions(decisionsOf(live));
    ended.takeCauses([cause]);
    ended.end();
    return { found: ended.found(), version: live.configuration.version };
  };

  test('the points of other rulesets stay, and are no reasons', () => {
    const { found } = rescoringAfter(updateRule('view', { weight: 1 }), updateRule('open', { weight: 19 }));
    expect(found).toMatchObject({
      rising: 0,
      falling: 1,
      movers: [{ live: 27, draft: 15, why: [{ kind: 'rule', id: idOf('view'), live: 14, draft: 2 }] }],
    });
  });

  test('its answer counts who rises, falls and crosses a level, and has the moves of both sides', () => {
    const { found, version } = rescoringAfter(updateRule('view', { weight: 20 }));
    const work: records.RescoringWork = {
      kind: 'rescoring',
      score_type: 'engagement',
      ruleset_id: idOf('Web'),
      dry_run: true,
      configuration_version: version,
      partitions: [],
    };
    const names = new Map([[idOf('ada'), 'Ada']]);
    expect(rescoringResultOf(found, { work, version, names })).toEqual({
      dry_run: true,
      configuration_version: version,
      overtaken: false,
      leads: 1,
      rising: 1,
      falling: 0,
      unchanged: 0,
      level_changes: 1,
      now: {
        distribution: expect.any(Array),
        levels: [expect.objectContaining({ leads: 0 })],
      },
      rescored: {
        distribution: expect.any(Array),
        levels: [expect.objectContaining({ leads: 1 })],
      },
      movers: [
        {
          lead_id: idOf('ada'),
          name: 'Ada',
          now: 27,
          rescored: 53,
          why: [{ kind: 'rule', id: idOf('view'), label: 'Page View', now: 14, rescored: 40 }],
        },
      ],
    });
    expect(rescoringResultOf(found, { work, version: version + 1, names: new Map() })).toMatchObject({
      overtaken: true,
      movers: [],
    });
  });
});
