// Triggers by account score: when they fire, what they remember of an account, and when that is forgotten.
import { describe, expect, test } from '@jest/globals';
import { accountIdOf, records } from '@lead-scoring/contracts';
import { hexOf } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { compileTriggers, concernsScored, flood, type Trigger } from '@lead-scoring/scoring-domain/triggers';
import { foldFirings, type FoldedSubject, type RecordedFiring } from '../firing/firing-fold.js';
import { accountEmptied, accountId, accountMilestone, accountScored } from '../testing/account-builders.js';
import {
  act,
  configurationOf,
  idOf,
  leadScored,
  milestone,
  ouId,
  profileScored,
  scoredAt,
  surge,
} from '../testing/firing-builders.js';
import { concernsAccount, decideAccountScored } from './decide.js';
import { accountStateKey, packAccountState, unpackAccountState } from './documents.js';
import { accountFold, evolveAccount } from './evolve.js';
import { accountFiringRecords, type AccountFiringEvent } from './messages.js';
import { accountRequestsOf } from './notification-model.js';
import { initialAccountState, type AccountState } from './state.js';

interface Run {
  events: AccountFiringEvent[];
  state: AccountState;
}

const begin = (id = accountId): Run => ({ events: [], state: initialAccountState(ouId, id) });

/** The decisions on these decisions of scoring on one account, one after the other. */
function decided(
  triggers: readonly Trigger[],
  scored: readonly records.AccountScored[],
  run: Run = begin(scored[0]?.account_id),
): Run {
  const compiled = compileTriggers(configurationOf(triggers), { levels: [] });
  return scored.reduce<Run>(({ events, state }, payload, index) => {
    if (!concernsAccount(payload, compiled)) return { events, state };
    const offset = Math.max(index, state.seen + 1);
    const decision = decideAccountScored(payload, scoredAt(offset), state, compiled);
    return { events: [...events, ...decision.events], state: decision.state };
  }, run);
}

const firingsOf = ({ events }: Run) =>
  events.flatMap(({ type, payload }) => (type === 'AccountMilestoneFired' ? [payload] : []));
const scoresAt = (run: Run) => firingsOf(run).map(({ score }) => score);

describe('a milestone of the account score', () => {
  test('fires when the score crosses the threshold, and names the account and why', () => {
    const [fired] = firingsOf(
      decided(
        [accountMilestone({ channel_ids: [idOf('channel')] })],
        [
          accountScored(60, 130, 1, {
            account_name: 'Acme Corporation',
            leads: 3,
            adjustments: [
              { reason: 'leads', points: 50 },
              { reason: 'account_rule', points: 20, rule_id: idOf('several leads'), rule_version: 1 },
              { reason: 'account_rule', points: 0, rule_id: idOf('matched before'), rule_version: 1 },
            ],
          }),
        ],
      ),
    );
    expect(fired).toMatchObject({
      account_id: accountId,
      account: {
        id: accountId,
        name: 'Acme Corporation',
        account_kind: 'domain',
        account_key: 'acme.com',
        leads: 3,
      },
      score: 130,
      previous_score: 60,
      score_type: 'account',
      threshold: 100,
      cause: { event_id: null, event_type: null, reason: 'leads', rule_ids: [idOf('several leads')] },
    });
    expect(JSON.stringify(fired)).not.toContain(idOf('ada'));
  });

  test('names an account without a name by its key, and rules where only they changed the score', () => {
    const adjustments = [
      { reason: 'account_rule' as const, points: 100, rule_id: idOf('rule'), rule_version: 1 },
    ];
    expect(
      firingsOf(decided([accountMilestone()], [accountScored(0, 100, 1, { adjustments })])),
    ).toMatchObject([
      { account: { name: 'acme.com' }, cause: { reason: 'account_rule', rule_ids: [idOf('rule')] } },
    ]);
  });

  test('fires once, and again when it was re-armed below the threshold or at rearm.below', () => {
    const path = [
      accountScored(0, 110, 0),
      accountScored(110, 150, 1),
      accountScored(150, 90, 2),
      accountScored(90, 120, 3),
      accountScored(120, 40, 4),
      accountScored(40, 130, 5),
    ];
    expect(scoresAt(decided([accountMilestone()], path))).toEqual([110, 120, 130]);
    const below = accountMilestone({ rearm: { below: 50, cooldown_seconds: 0 } });
    expect(scoresAt(decided([below], path))).toEqual([110, 130]);
    const cooling = accountMilestone({ rearm: { cooldown_seconds: 4 } });
    expect(scoresAt(decided([cooling], path))).toEqual([110, 130]);
  });

  test('with direction down fires when the score falls below it', () => {
    const down = accountMilestone({ direction: 'down' });
    expect(scoresAt(decided([down], [accountScored(0, 110, 0), accountScored(110, 30, 1)]))).toEqual([30]);
  });

  test('does not fire for imported history, nor while it is inactive, nor for decisions from before it', () => {
    const imported = accountScored(0, 150, 0, { fire_triggers: false });
    expect(decided([accountMilestone()], [imported]).events).toEqual([]);
    expect(decided([accountMilestone({ active: false })], [accountScored(0, 150, 0)]).events).toEqual([]);
    const later = accountMilestone({ created_at: '2026-01-01T13:00:00.000Z' });
    expect(decided([later], [accountScored(0, 150, 0)]).events).toEqual([]);
  });

  test('watches no score of leads, and other triggers watch no account', () => {
    const compiled = compileTriggers(configurationOf([accountMilestone()]), { levels: [] });
    const acts = [act('view', 'Page View', 0, 150)];
    expect(concernsScored(leadScored(acts, 0, 0), compiled)).toBe(false);
    expect(concernsScored(profileScored(0, 150, 0), compiled)).toBe(false);
    const others = [milestone(), milestone({ score_type: 'profile' }, 'fit'), surge({ threshold: 1 })];
    expect(decided(others, [accountScored(0, 150, 0)]).events).toEqual([]);
  });

  test('is silent for an account for which it fires too often', () => {
    const path = Array.from({ length: 2 * flood.firings + 4 }, (_, index) =>
      index % 2 === 0 ? accountScored(0, 110, index) : accountScored(110, 0, index),
    );
    const run = decided([accountMilestone()], path);
    expect(firingsOf(run)).toHaveLength(flood.firings);
    expect(run.events.filter(({ type }) => type === 'AccountTriggerSuppressed')).toHaveLength(1);
  });

  test('has one notification for each channel, the same ones for the same decision', () => {
    const channel_ids = [idOf('one'), idOf('two')];
    const [fired] = firingsOf(decided([accountMilestone({ channel_ids })], [accountScored(0, 150, 1)]));
    if (!fired) throw new Error('nothing fired');
    const requests = accountRequestsOf(fired);
    expect(requests.map(({ channel_id }) => channel_id)).toEqual(channel_ids);
    expect(requests).toEqual(accountRequestsOf(fired));
    for (const request of requests) {
      expect(records.requestNotification.schema.parse(request)).toEqual(request);
      expect(request.payload).toMatchObject({
        type: 'account.milestone.fired',
        data: { account: { id: accountId, name: 'acme.com' }, score: 150, position: 'scoring.events:0:0' },
      });
    }
  });
});

describe('an account without leads', () => {
  test('is forgotten and fires nothing, and one of the same id begins anew', () => {
    const down = accountMilestone({ direction: 'down' }, 'down');
    const run = decided(
      [accountMilestone({ rearm: { below: 5, cooldown_seconds: 3_600 } }), down],
      [accountScored(0, 110, 0), accountEmptied(110, 1), accountScored(0, 120, 2, { new_account: true })],
    );
    expect(run.events.map(({ type }) => type)).toEqual([
      'AccountMilestoneFired',
      'AccountForgotten',
      'AccountMilestoneFired',
    ]);
    expect(run.state.memories.size).toBe(1);
  });

  test('leaves the position of its end, which names neither the account nor its OU', () => {
    const { state } = decided([accountMilestone()], [accountScored(0, 110, 0), accountEmptied(110, 1)]);
    expect(JSON.parse(packAccountState(state))).toEqual({ seen: 1 });
    const key = hexOf(accountStateKey({ ou_id: ouId, id: accountId }));
    for (const id of [ouId, accountId]) expect(key).not.toContain(id.replaceAll('-', ''));
  });

  test('leaves the position of its last end, also where nothing fired since an earlier one', () => {
    const { events, state } = decided(
      [accountMilestone()],
      [accountScored(0, 110, 0), accountEmptied(110, 1), accountScored(0, 40, 2), accountEmptied(40, 3)],
    );
    expect(events.map(({ type }) => type)).toEqual([
      'AccountMilestoneFired',
      'AccountForgotten',
      'AccountForgotten',
    ]);
    expect(state.seen).toBe(3);
  });

  test('fires nothing for decisions from before its end that come late or again', () => {
    const { state } = decided([accountMilestone()], [accountScored(0, 110, 0), accountEmptied(110, 1)]);
    const left = unpackAccountState(packAccountState(state), { ou_id: ouId, id: accountId });
    const compiled = compileTriggers(configurationOf([accountMilestone()]), { levels: [] });
    for (const offset of [0, 1])
      expect(decideAccountScored(accountScored(0, 150, 0), scoredAt(offset), left, compiled).events).toEqual(
        [],
      );
    expect(decideAccountScored(accountScored(0, 150, 2), scoredAt(2), left, compiled).events).toHaveLength(1);
  });

  test('is forgotten after its trigger was deleted too, and leaves no event where nothing had fired', () => {
    const { state } = decided([accountMilestone()], [accountScored(0, 110, 0)]);
    expect(decided([], [accountEmptied(110, 1)], { events: [], state }).events).toMatchObject([
      { type: 'AccountForgotten', payload: { account_id: accountId } },
    ]);
    expect(decided([accountMilestone()], [accountEmptied(40, 1)]).events).toEqual([]);
  });
});

describe('for any milestones and any changes of the scores of accounts,', () => {
  const anyMilestone = fc
    .record({
      score_threshold: fc.integer({ min: -30, max: 60 }),
      direction: fc.constantFrom('up' as const, 'down' as const),
      gap: fc.constantFrom(0, 5, 20),
      cooldown_seconds: fc.constantFrom(0, 0, 3),
    })
    .map(({ score_threshold, direction, gap, cooldown_seconds }) =>
      accountMilestone({
        score_threshold,
        direction,
        channel_ids: [idOf('channel')],
        rearm: {
          cooldown_seconds,
          ...(direction === 'up' ? { below: score_threshold - gap } : { above: score_threshold + gap }),
        },
      }),
    );
  const anyMilestones = fc
    .array(anyMilestone, { minLength: 1, maxLength: 5 })
    .map((all) => all.map((one, index) => ({ ...one, id: idOf(`t${String(index)}`) })));
  const keys = ['acme.com', 'globex.com'] as const;
  /** Changes of accounts; a null empties the account. */
  const anyChanges = fc
    .array(
      fc.record({
        key: fc.constantFrom(...keys),
        points: fc.option(fc.integer({ min: -40, max: 40 }), { freq: 8 }),
        fire_triggers: fc.constantFrom(true, true, true, false),
      }),
      { maxLength: 24 },
    )
    .map((changes) => {
      const known = new Map<string, number>();
      return changes.map(({ key, points, fire_triggers }, index) => {
        const before = known.get(key) ?? 0;
        const after = points === null ? 0 : before + points;
        known.set(key, after);
        const account = { account_kind: 'domain' as const, account_key: key };
        const of = { ...account, account_id: accountIdOf(ouId, account), fire_triggers };
        return points === null ? accountEmptied(before, index, of) : accountScored(before, after, index, of);
      });
    });

  /** The events of all accounts with their offsets, as they are on the log, and the states that were decided. */
  function logOf(triggers: readonly Trigger[], changes: readonly records.AccountScored[]) {
    const compiled = compileTriggers(configurationOf(triggers), { levels: [] });
    const states = new Map<string, AccountState>();
    const log: RecordedFiring<AccountFiringEvent>[] = [];
    changes.forEach((scored, offset) => {
      if (!concernsAccount(scored, compiled)) return;
      const { account_id } = scored;
      const before = states.get(account_id) ?? initialAccountState(ouId, account_id);
      const { events, state } = decideAccountScored(scored, scoredAt(offset), before, compiled);
      if (events.length > 0) states.set(account_id, state);
      for (const event of events)
        log.push({ event, json: Buffer.from(JSON.stringify(event.payload)), offset: 2 * log.length });
    });
    return { log, states, compiled };
  }

  /** Folds the log in steps of these sizes; a step whose checkpoint is lost is folded again by the next one. */
  function foldedInSteps(
    log: readonly RecordedFiring<AccountFiringEvent>[],
    steps: readonly { size: number; isLost: boolean }[],
  ): Map<string, AccountState> {
    const states = new Map<string, FoldedSubject<AccountState>>();
    let from = 0;
    for (const { size, isLost } of [...steps, { size: log.length, isLost: false }]) {
      const { changed } = foldFirings(log.slice(from, from + size), states, accountFold);
      for (const [key, one] of changed) states.set(key, one);
      if (!isLost) from += size;
    }
    return new Map([...states.values()].map(({ state }) => [state.account_id, state]));
  }

  test('a plain reference implementation fires for the same changes', () => {
    fc.assert(
      fc.property(anyMilestone, anyChanges, (trigger, changes) => {
        const { score_threshold: line = NaN, direction, rearm } = trigger;
        const expected: number[] = [];
        let armed = true;
        let last = -Infinity;
        const ofOne = changes.filter(({ account_key }) => account_key === 'acme.com');
        ofOne.forEach(({ previous_score: before, score, leads, fire_triggers, decided_at }) => {
          if (leads === 0) {
            [armed, last] = [true, -Infinity];
            expected.splice(0);
            return;
          }
          const at = Date.parse(decided_at);
          const crosses =
            direction === 'up' ? before < line && score >= line : before >= line && score < line;
          const isArmed =
            armed || (direction === 'up' ? before < (rearm.below ?? line) : before >= (rearm.above ?? line));
          if (fire_triggers && crosses && isArmed && at >= last + rearm.cooldown_seconds * 1_000) {
            expected.push(score);
            [armed, last] = [false, at];
          }
          if (direction === 'up' ? score < (rearm.below ?? line) : score >= (rearm.above ?? line))
            armed = true;
        });
        const { events, state } = decided([trigger], ofOne, begin());
        const end = events.findLastIndex(({ type }) => type === 'AccountForgotten');
        expect(scoresAt({ events: events.slice(end + 1), state })).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test('replay equals live, in any batches, folded again or not, and documents hold the whole state', () => {
    const anySteps = fc.array(fc.record({ size: fc.integer({ min: 0, max: 5 }), isLost: fc.boolean() }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(anyMilestones, anyChanges, anySteps, (triggers, changes, steps) => {
        const { log, states } = logOf(triggers, changes);
        const byAccount = (all: ReadonlyMap<string, AccountState>) => new Map([...all].sort());
        const live = new Map(
          [...states.keys()].map((id) => [
            id,
            log
              .filter(({ event }) => event.payload.account_id === id)
              .reduce((state, { event }) => evolveAccount(state, event), initialAccountState(ouId, id)),
          ]),
        );
        expect(byAccount(live)).toEqual(byAccount(states));
        expect(byAccount(foldedInSteps(log, steps))).toEqual(byAccount(states));
        for (const state of states.values())
          expect(unpackAccountState(packAccountState(state), { ou_id: ouId, id: state.account_id })).toEqual(
            state,
          );
      }),
    );
  });

  test('a repeated decision changes nothing, other accounts make no difference, and events match their declarations', () => {
    fc.assert(
      fc.property(anyMilestones, anyChanges, (triggers, changes) => {
        const { log, states, compiled } = logOf(triggers, changes);
        changes.forEach((scored, offset) => {
          const state = states.get(scored.account_id);
          if (!state || offset > state.seen) return;
          expect(decideAccountScored(scored, scoredAt(offset), state, compiled)).toEqual({
            events: [],
            state,
          });
        });
        for (const key of keys) {
          const alone = logOf(
            triggers,
            changes.map((one) => (one.account_key === key ? one : accountScored(0, 0, 0))),
          );
          const id = accountIdOf(ouId, { account_kind: 'domain', account_key: key });
          const of = ({ event }: RecordedFiring<AccountFiringEvent>) => event.payload.account_id === id;
          expect(alone.log.filter(of).map(({ event }) => event)).toEqual(
            log.filter(of).map(({ event }) => event),
          );
        }
        for (const { event } of log)
          expect(accountFiringRecords[event.type].schema.parse(event.payload)).toEqual(event.payload);
      }),
    );
  });
});
