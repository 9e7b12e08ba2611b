// Challengers as decided and folded, and what applying one comes to.
import { describe, expect, test } from '@jest/globals';
import { nameBasedId, records } from '@lead-scoring/contracts';
import { evolveConfiguration } from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { createRule, idOf, ouId, updateRule } from '../testing/builders.js';
import { configured, configuredFrom } from '../testing/configured.js';
import { applyChallenger } from './apply-model.js';
import {
  decideChallenger,
  evolveChallengers,
  noChallengers,
  type ChallengerCommand,
  type Challengers,
} from './decide.js';

const at = '2026-02-01T00:00:00.000Z';
const actor = { kind: 'token', id: '7' } as const;
const live = configured(createRule('view', { weight: 10 }));
const context = {
  configurations: new Map([[ouId, live]]),
  starts: [
    { ingest: 5, scoring: 7 },
    { ingest: 0, scoring: 0 },
  ],
};
const changes: records.DraftChange[] = [
  { op: 'change', rule_id: idOf('view'), rule: { weight: 20 } },
  { op: 'add', rule: { event_type: 'Form Submit', weight: 12 } },
];

function startOf(name: string, more: Partial<records.StartChallenger> = {}): ChallengerCommand {
  return {
    type: 'StartChallenger',
    payload: {
      ou_id: ouId,
      challenger_id: idOf(name),
      name,
      changes,
      score_type: 'engagement',
      requested_at: at,
      actor,
      ...more,
    },
  };
}

function endOf(name: string, more: Partial<records.EndChallenger> = {}): ChallengerCommand {
  return {
    type: 'EndChallenger',
    payload: { ou_id: ouId, challenger_id: idOf(name), requested_at: at, ...more },
  };
}

function after(...commands: readonly ChallengerCommand[]): Challengers {
  return commands.reduce((state, command) => {
    const decision = decideChallenger(command, state, context);
    return decision.outcome === 'done' ? decision.events.reduce(evolveChallengers, state) : state;
  }, noChallengers(ouId));
}
const namesIn = ({ running }: Challengers) => running.map(({ name }) => name);

describe('a challenger', () => {
  test('runs from the ends of the log on, by the rules of when it began', () => {
    const { running } = after(startOf('one'));
    expect(running).toMatchObject([
      { name: 'one', at, actor, changes, configuration_version: live.version, starts: context.starts },
    ]);
  });

  test('that was started before is not started again', () => {
    expect(decideChallenger(startOf('one'), after(startOf('one')), context)).toEqual({
      outcome: 'done',
      events: [],
    });
  });

  test('is one of at most three, and one that ends makes room', () => {
    const full = after(...['one', 'two', 'three'].map((name) => startOf(name)));
    expect(decideChallenger(startOf('four'), full, context)).toMatchObject({
      outcome: 'rejected',
      code: 'limit_reached',
      message: expect.stringContaining('at most 3 challengers'),
    });
    const commands = [...['one', 'two', 'three'].map((name) => startOf(name)), endOf('two'), startOf('four')];
    expect(namesIn(after(...commands))).toEqual(['one', 'three', 'four']);
  });

  test('is refused for a draft that is refused, with the place', () => {
    const unknown = startOf('one', { changes: [{ op: 'remove', rule_id: idOf('none') }] });
    expect(decideChallenger(unknown, noChallengers(ouId), context)).toMatchObject({
      outcome: 'rejected',
      code: 'rule_not_found',
      message: expect.stringContaining('In change 1: '),
    });
  });

  test('that has ended is not started again by the same request', () => {
    const ended = after(startOf('one'), endOf('one'));
    expect(decideChallenger(startOf('one'), ended, context)).toMatchObject({ code: 'already_deleted' });
    expect(decideChallenger(startOf('one'), after(startOf('one')), context)).toEqual({
      outcome: 'done',
      events: [],
    });
  });

  test('that has ended, or was none, cannot be ended', () => {
    expect(decideChallenger(endOf('one'), after(startOf('one'), endOf('one')), context)).toMatchObject({
      code: 'challenger_not_found',
    });
  });

  test('law: whatever is asked for, at most three run, each once, and the latest that ended are remembered and do not start again', () => {
    const command = fc
      .tuple(fc.constantFrom('start', 'end', 'applied'), fc.integer({ min: 0, max: 40 }))
      .map(([does, number]) =>
        does === 'start'
          ? startOf(String(number))
          : endOf(String(number), does === 'applied' ? { applied_version: number } : {}),
      );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 120 }), (commands) => {
        const state = after(...commands);
        const names = namesIn(state);
        expect(names.length).toBeLessThanOrEqual(3);
        expect(new Set(names).size).toBe(names.length);
        expect(state.ended.length).toBeLessThanOrEqual(50);
        const ended = new Set(state.ended.map(({ challenger_id }) => challenger_id));
        expect(state.running.some(({ challenger_id }) => ended.has(challenger_id))).toBe(false);
      }),
    );
  });
});

describe('apply', () => {
  const command = (more: Partial<records.ApplyChallenger> = {}): records.ApplyChallenger => ({
    ou_id: ouId,
    challenger_id: idOf('one'),
    dry_run: false,
    requested_at: '2026-03-01T00:00:00.000Z',
    actor,
    ...more,
  });
  const running = after(startOf('one'));

  test('makes the draft live with the ids that ran in shadow, says what has changed, and asks for the end of the challenger', () => {
    const decision = applyChallenger(command(), running, live);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    const configuration = decision.events.reduce(evolveConfiguration, live);
    expect([...configuration.rules.values()].map(({ id, weight }) => [id, weight])).toEqual([
      [idOf('view'), 20],
      [nameBasedId(idOf('one'), 'rule:1'), 12],
    ]);
    const { version } = configuration;
    expect(decision.result).toMatchObject({ id: idOf('one'), dry_run: false, version });
    expect(decision.commands?.map(({ declaration: { type }, payload }) => [type, payload])).toEqual([
      [
        'EndChallenger',
        {
          ...{ ou_id: ouId, challenger_id: idOf('one'), applied_version: version },
          ...{ requested_at: command().requested_at, actor },
        },
      ],
    ]);
  });

  test('as a dry run says the same and changes nothing', () => {
    const real = applyChallenger(command(), running, live);
    const dry = applyChallenger(command({ dry_run: true }), running, live);
    expect(dry).toMatchObject({ outcome: 'done', events: [] });
    expect(dry).not.toHaveProperty('commands');
    if (real.outcome === 'rejected' || dry.outcome === 'rejected') throw new Error('refused');
    expect(dry.result).toEqual({ ...(real.result as object), dry_run: true, version: live.version });
    expect(dry.result).toHaveProperty('total', 2);
  });

  test('is refused when the rules have changed since, also as a dry run', () => {
    const changed = configuredFrom(live, updateRule('view', { label: 'Views' }));
    for (const dry_run of [true, false])
      expect(applyChallenger(command({ dry_run }), running, changed)).toMatchObject({
        outcome: 'rejected',
        code: 'rules_changed',
        message: expect.stringContaining('the challenger "one"'),
      });
  });

  test('again, when the challenger has ended with it, answers the same version', () => {
    const applied = after(startOf('one'), endOf('one', { applied_version: 9 }));
    expect(applyChallenger(command(), applied, live)).toMatchObject({
      outcome: 'done',
      events: [],
      result: { id: idOf('one'), version: 9, total: 0 },
    });
  });

  test('of one that ended without it, or of none, is refused', () => {
    expect(applyChallenger(command(), after(startOf('one'), endOf('one')), live)).toMatchObject({
      code: 'challenger_not_found',
    });
    expect(applyChallenger(command(), noChallengers(ouId), live)).toMatchObject({
      code: 'challenger_not_found',
    });
  });
});
