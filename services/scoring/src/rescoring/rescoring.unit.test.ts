// The laws of a rescoring, on random histories whose rules change in between: the new scores are those of a fresh computation of the
// whole history by the rules of now, the old ones those that live scoring has; where the rules have not changed, nobody moves.
import { describe, expect, test } from '@jest/globals';
import { routeDeclarations, type records } from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { ScoringInMemory } from '../reference/scoring-in-memory.js';
import type { LeadEvent } from '../scores/messages.js';
import { emptyProfile } from '../profile/state.js';
import { compileRules } from '../scores/rule-model.js';
import { createProfileRule, createRule, idOf, ingested, ouId, updateRule } from '../testing/builders.js';
import { createDecay } from '../testing/decay-builders.js';
import { base, commands, decays, histories, Player, profiles, timeOf } from '../testing/histories.js';
import { joinedFound, scoreOf } from '../what-if/found-model.js';
import type { PlacedCause, PlacedDecision } from '../what-if/resets-model.js';
import { decideActivation } from './activation-model.js';
import { PreparedGroup } from './prepared-model.js';
import { GroupRescoring } from './rescored-model.js';
import type { PreparedLead, Rescored } from './state-model.js';
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

describe('scores that come into force', () => {
  /** All of a lead that later events are decided by, whatever the order in which it came about. */
  const stateIn = ({ leads }: ScoringInMemory, { score_type }: Rescored) =>
    new Map(
      [...leads].map(([id, lead]): [string, object] => {
        if (score_type === 'profile') {
          const { values, given, score } = lead.profile ?? emptyProfile;
          const points = given.map(({ rule_id, points: sum }) => `${rule_id} ${String(sum)}`).sort();
          return [id, { values, points, score }];
        }
        const { score, last_scored_at, decay: { since, ticks } = {} } = lead;
        const rulesets = lead.rulesets.filter((one) => one.score !== 0);
        const sorted = (parts: readonly object[] = []) => parts.map((part) => JSON.stringify(part)).sort();
        const uses = sorted(lead.limit_uses);
        return [id, { score, last_scored_at, since, ticks, rulesets: sorted(rulesets), uses }];
      }),
    );

  /** Prepares the leads at a moment, plays on, and brings them into force. */
  function rescoredLive(
    earlier: Steps,
    change: Changes,
    { between, tail, what }: { between: Steps; tail: Steps; what: Rescored },
  ) {
    const { live, player, until } = computed(earlier, change, between);
    const { configuration } = live;
    const ended = new GroupRescoring(configuration, what, until, true);
    ended.takeDecisions(decisionsOf(live));
    ended.takeCauses(player.causes);
    ended.end();
    const from = { decisions: live.log.length, happenings: player.happenings.length };
    // A pass takes a part of what has come in since, and the batch of the activation the rest.
    const goneOn = (prepared: readonly PreparedLead[]) => {
      const stored = JSON.parse(JSON.stringify(prepared)) as PreparedLead[];
      const group = new PreparedGroup(ouId, configuration, what, stored);
      group.take(
        player.happenings.slice(from.happenings),
        decisionsOf(live).filter(({ offset }) => offset >= from.decisions),
      );
      from.decisions = live.log.length;
      from.happenings = player.happenings.length;
      return group;
    };
    const half = Math.floor(tail.length / 2);
    player.play(tail.slice(0, half));
    const passed = goneOn([...ended.prepared()]);
    player.play(tail.slice(half));
    const at = new Date(Date.parse(player.end()) + 1).toISOString();
    const group = goneOn([...passed.all()]);
    const activation = { ...what, job_id: idOf('job'), fire_triggers: false, at };
    const rules = { configuration, live: compileRules(live.configuration) };
    const decided = decideActivation(group, (id) => live.leads.get(id) ?? null, activation, rules);
    live.adjust(decided);
    return { live, player, decided, at };
  }

  test('are those of a fresh computation, with all that was decided meanwhile, and so are all later ones, for a fold of the log too', () => {
    let moved = 0;
    fc.assert(
      fc.property(
        fc.tuple(histories, histories, histories, histories),
        changed,
        rescored,
        ([earlier, between, tail, later], change, what) => {
          const { live, player, decided } = rescoredLive(earlier, change, { between, tail, what });
          const fresh = new ScoringInMemory();
          const freshPlayer = new Player(fresh);
          for (const command of before) fresh.command(command);
          for (const changeAt of change) fresh.command(changeAt(base.requested_at));
          freshPlayer.play([...earlier, ...between, ...tail]);
          freshPlayer.end();
          expect(stateIn(live, what)).toEqual(stateIn(fresh, what));
          moved += decided.filter((one) => one.score !== one.previous_score).length;
          for (const one of [player, freshPlayer]) {
            one.play(later);
            one.end();
          }
          expect(stateIn(live, what)).toEqual(stateIn(fresh, what));
          live.crash();
          expect(stateIn(live, what)).toEqual(stateIn(fresh, what));
        },
      ),
    );
    expect(moved).toBeGreaterThan(5);
  });

  test('are explained by what the rules of now gave, and before they came into force as they were then', () => {
    fc.assert(
      fc.property(histories, histories, histories, changed, (earlier, between, tail, change) => {
        const what: Rescored = { score_type: 'engagement' };
        const { live, decided } = rescoredLive(earlier, change, { between, tail, what });
        for (const { lead_id, decided_at, score, previous_score } of decided) {
          const explained = live.explain(lead_id);
          expect(routeDeclarations.scoreExplanation.safeParse(explained).error).toBeUndefined();
          expect(explained).toMatchObject({ score, unattributed: 0, rescored: { at: decided_at } });
          const drivers = explained.top_drivers.reduce(
            (sum, one) => sum + (one.counted_total ?? one.total),
            0,
          );
          const others = (explained.adjustments ?? [])
            .filter(({ reason }) => reason !== 'capped_by_rule')
            .reduce((sum, { points }) => sum + points, 0);
          expect(drivers + others).toBe(score);
          expect(
            explained.entries.every((entry) => entry.replaced_by !== undefined || entry.before_reset),
          ).toBe(true);
          const earlierMoment = new Date(Date.parse(decided_at) - 1).toISOString();
          const then = live.explain(lead_id, { known_at: earlierMoment });
          expect(then).toMatchObject({ score: previous_score, unattributed: 0 });
          expect(then.rescored).toBeUndefined();
        }
      }),
      { numRuns: 50 },
    );
  });

  test('of leads that are the same change nothing; the points of other rulesets stay where one is computed anew', () => {
    let untouched = 0;
    fc.assert(
      fc.property(histories, histories, (earlier, tail) => {
        const { decided } = rescoredLive(earlier, [], {
          between: [],
          tail,
          what: { score_type: 'engagement' },
        });
        untouched += decided.length === 0 ? 1 : 0;
        for (const one of decided) expect(one.score).toBe(one.previous_score);
        const web = { score_type: 'engagement', ruleset_id: idOf('Web') } as const;
        const one = rescoredLive(earlier, [changes[0], changes[1]] as Changes, {
          between: tail,
          tail: [],
          what: web,
        });
        const expected = rescoringOf(computed(earlier, [changes[0], changes[1]] as Changes, tail), web);
        expect(scoresIn(one.live, web)).toEqual(sideOf(expected, 'draft', web));
      }),
    );
    expect(untouched).toBeGreaterThan(50);
  });
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
