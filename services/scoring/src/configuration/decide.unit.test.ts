// Given a configuration, when a command comes, then events change the configuration, or the command is refused with a reason.
import { describe, expect, test } from '@jest/globals';
import { problemTypeOf, routeDeclarations } from '@lead-scoring/contracts';
import {
  type ConfigurationEvent,
  configurationRecords,
  emptyConfiguration,
  evolveConfiguration,
  packConfiguration,
  type ScoringConfiguration,
  unpackConfiguration,
} from '@lead-scoring/scoring-domain';
import { lawRuns } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import {
  at,
  createRule,
  createRuleset,
  deleteRule,
  deleteRuleset,
  idOf,
  ouId,
  setLevels,
  setRulesActive,
  updateRule,
  updateRuleset,
} from '../testing/builders.js';
import { configured } from '../testing/configured.js';
import { decideConfiguration, defaultRulesetIdOf, resultOf } from './decide.js';
import { configurationLimits } from './decision-model.js';
import type { ConfigurationCommand } from './messages.js';

function when(command: ConfigurationCommand, configuration: ScoringConfiguration) {
  const decision = decideConfiguration(command, configuration);
  if (decision.outcome === 'rejected')
    return { ...decision, status: problemTypeOf(decision.code).status, events: [] };
  const after = decision.events.reduce(evolveConfiguration, configuration);
  return { ...decision, after, result: resultOf(command, after) };
}

test('every event has the actor of its command, and a rule or ruleset has the actor of its last change', () => {
  const actor = { kind: 'token', id: idOf('token'), name: 'Ada' } as const;
  const by = (command: ConfigurationCommand) =>
    ({ ...command, payload: { ...command.payload, actor } }) as ConfigurationCommand;
  const before = configured(createRuleset('Intent'), createRule('a'));
  for (const command of [
    createRuleset('Other'),
    updateRuleset('Intent', { active: false }),
    createRule('b'),
    setRulesActive(['a'], false),
    setLevels([['Hot', 50, null]]),
  ]) {
    const { events } = when(by(command), before);
    expect(events.length).toBeGreaterThan(0);
    for (const { payload } of events) expect(payload.actor).toEqual(actor);
  }
  const { rules, rulesets } = configured(
    createRuleset('Intent'),
    createRule('a'),
    by(setRulesActive(['a'], false)),
    by(updateRuleset('Intent', { active: false })),
  );
  expect(rules.get(idOf('a'))?.changed_by).toEqual(actor);
  expect(rulesets.get(idOf('Intent'))?.changed_by).toEqual(actor);
  // A command of an earlier gateway has no actor.
  expect(configured(by(createRule('a')), setRulesActive(['a'], false)).rules.get(idOf('a'))?.changed_by).toBe(
    undefined,
  );
});

describe('a second rule with the same effect', () => {
  const filters = [{ field: 'path', operator: 'contains', value: '/pricing' }] as const;
  const first = createRule('a', { filters: [...filters], label: 'Pricing' });
  const warningsOf = (second: ConfigurationCommand, ...before: ConfigurationCommand[]) =>
    (when(second, configured(first, ...before)) as { result?: { warnings?: unknown[] } }).result?.warnings;

  test.each([
    ['the same', createRule('b', { filters: [...filters] })],
    ['another spelling of the type', createRule('b', { event_type: 'page_view', filters: [...filters] })],
    ['another label', createRule('b', { filters: [...filters], label: 'Prices' })],
  ])('%s: it is created, with a warning that names the first', (_, second) => {
    expect(warningsOf(second)).toEqual([
      { code: 'identical_rule', message: expect.stringContaining(`${idOf('a')} ("Pricing")`) },
    ]);
  });

  test('another weight, filter, time or type, and an inactive first rule, cause no warning', () => {
    for (const second of [
      createRule('b', { filters: [...filters], weight: 11 }),
      createRule('b'),
      createRule('b', { filters: [...filters], starts_at: at }),
      createRule('b', { filters: [...filters], event_type: 'Email Open' }),
    ])
      expect(warningsOf(second)).toBeUndefined();
    expect(
      warningsOf(createRule('b', { filters: [...filters] }), setRulesActive(['a'], false)),
    ).toBeUndefined();
  });
});

describe('rulesets', () => {
  test('the answer to a created ruleset has the form that its route declares', () => {
    const { events, result } = { result: undefined, ...when(createRuleset('Intent'), configured()) };
    expect(events.map(({ type }) => type)).toEqual(['RulesetCreated']);
    expect(routeDeclarations.ruleset.parse(result)).toMatchObject({
      id: idOf('Intent'),
      name: 'Intent',
      is_default: false,
      version: 1,
    });
  });

  test('a repeated command changes nothing and gets the same answer', () => {
    const configuration = configured(createRuleset('Intent'));
    expect(when(createRuleset('Intent'), configuration)).toMatchObject({
      outcome: 'done',
      events: [],
      result: { name: 'Intent' },
    });
  });

  test('a name that differs only in case from another is refused: 409', () => {
    const configuration = configured(createRuleset('Intent'), createRuleset('Other'));
    expect(when(createRuleset('x', { name: 'INTENT' }), configuration)).toMatchObject({
      code: 'duplicate_name',
      status: 409,
    });
    expect(when(updateRuleset('Other', { name: 'intent' }), configuration)).toMatchObject({
      code: 'duplicate_name',
    });
    expect(when(updateRuleset('Intent', { name: 'INTENT' }), configuration)).toMatchObject({
      outcome: 'done',
      result: { name: 'INTENT' },
    });
  });

  test('an update changes the fields that it names, and makes a new version only if one changes', () => {
    const configuration = configured(createRuleset('Intent'));
    expect(when(updateRuleset('Intent', { active: false }), configuration)).toMatchObject({
      result: { name: 'Intent', active: false, version: 2 },
    });
    expect(when(updateRuleset('Intent', { active: true, name: 'Intent' }), configuration)).toMatchObject({
      events: [],
      result: { version: 1 },
    });
    expect(when(updateRuleset('unknown', { active: true }), configuration)).toMatchObject({
      code: 'ruleset_not_found',
      status: 404,
    });
  });

  test('the 201st active ruleset is refused: 409; inactive and deleted ones leave room', () => {
    const configuration = configured(
      ...Array.from({ length: configurationLimits.rulesets }, (_, index) =>
        createRuleset(`R${String(index)}`),
      ),
    );
    expect(when(createRuleset('one more'), configuration)).toMatchObject({
      code: 'limit_reached',
      status: 409,
    });
    expect(when(createRule('needs a default'), configuration)).toMatchObject({ code: 'limit_reached' });
    expect(when(createRuleset('inactive', { active: false }), configuration)).toMatchObject({
      outcome: 'done',
    });
    const room = (command: ConfigurationCommand) =>
      when(command, configuration) as { after: ScoringConfiguration };
    for (const { after } of [room(deleteRuleset('R7')), room(updateRuleset('R7', { active: false }))]) {
      const full = when(createRuleset('one more'), after) as { after: ScoringConfiguration };
      expect(full).toMatchObject({ outcome: 'done' });
      expect(when(updateRuleset('R7', { active: true }), full.after)).toMatchObject({
        outcome: 'rejected',
        code: expect.stringMatching(/^(limit_reached|ruleset_not_found)$/),
      });
    }
  });
});

describe('rules', () => {
  test('the first rule that names no ruleset creates the default one; later ones join it', () => {
    const first = when(createRule('Pricing'), configured());
    expect(first.events.map(({ type }) => type)).toEqual(['RulesetCreated', 'RuleCreated']);
    const configuration = configured(createRule('Pricing'));
    expect(configuration.rulesets.get(defaultRulesetIdOf(ouId))).toMatchObject({
      name: 'Default',
      is_default: true,
      active: true,
    });
    expect(when(createRule('Demo'), configuration)).toMatchObject({
      result: { ruleset_id: defaultRulesetIdOf(ouId) },
    });
    expect(when(createRule('Demo'), configuration).events).toHaveLength(1);
  });

  test('the default ruleset gets a name that is not in use', () => {
    const configuration = configured(
      createRuleset('Default'),
      createRuleset('default 2'),
      createRule('Pricing'),
    );
    expect(configuration.rulesets.get(defaultRulesetIdOf(ouId))?.name).toBe('Default 3');
  });

  test('the answer to a created rule has the form that its route declares, with its filter in words', () => {
    const rule = createRule('Pricing', {
      filters: [{ field: 'path', operator: 'contains', value: '/pricing' }],
      label: 'Saw prices',
      starts_at: '2026-01-01T00:00:00.000Z',
    });
    const { result } = { result: undefined, ...when(rule, configured()) };
    expect(routeDeclarations.rule.parse(result)).toMatchObject({
      id: idOf('Pricing'),
      filter_label: 'path contains "/pricing"',
      active: true,
      version: 1,
      created_at: at,
    });
  });

  test('a repeated command changes nothing and gets the same answer', () => {
    expect(when(createRule('Pricing'), configured(createRule('Pricing')))).toMatchObject({
      outcome: 'done',
      events: [],
      result: { weight: 10 },
    });
  });

  test('a ruleset that does not exist is 404; an end that is not after the start is refused', () => {
    expect(when(createRule('x', { ruleset_id: idOf('nowhere') }), configured())).toMatchObject({
      code: 'ruleset_not_found',
      status: 404,
    });
    const moment = '2026-01-01T00:00:00.000Z';
    expect(when(createRule('x', { starts_at: moment, ends_at: moment }), configured())).toMatchObject({
      code: 'invalid_request',
      status: 400,
    });
  });

  describe('the 1,001st active rule', () => {
    const full = configured(
      ...Array.from({ length: configurationLimits.rules }, (_, index) => createRule(`r${String(index)}`)),
    );
    const refused = { code: 'limit_reached', status: 409 };
    const afterOf = (command: ConfigurationCommand, before: ScoringConfiguration) =>
      (when(command, before) as { after: ScoringConfiguration }).after;

    test('is refused: 409', () => {
      expect(when(createRule('one more'), full)).toMatchObject(refused);
    });

    test('is taken after one was deactivated or deleted; the deactivated one is then refused', () => {
      expect(when(createRule('one more'), afterOf(deleteRule('r1'), full))).toMatchObject({
        outcome: 'done',
      });
      const again = afterOf(createRule('one more'), afterOf(setRulesActive(['r1'], false), full));
      expect(when(setRulesActive(['r1', 'r2'], true), again)).toMatchObject(refused);
      expect(when(updateRule('r1', { active: true }), again)).toMatchObject(refused);
      expect(when(updateRule('r1', { weight: 3 }), again)).toMatchObject({ outcome: 'done' });
    });

    test('may be made inactive', () => {
      const after = afterOf(createRule('one more', { active: false }), full);
      expect(after.rules.size).toBe(1_001);
      expect(when(setRulesActive(['one more'], true), after)).toMatchObject(refused);
    });
  });

  test('rules that would not fit into one document are refused', () => {
    const filter = {
      field: 'f',
      operator: 'in' as const,
      value: Array.from({ length: 100 }, () => 'x'.repeat(1_000)),
    };
    const configuration = configured(
      ...Array.from({ length: 50 }, (_, index) => createRule(`r${String(index)}`, { filters: [filter] })),
    );
    const large = createRule('large', { filters: Array.from({ length: 10 }, () => filter) });
    expect(when(large, configuration)).toMatchObject({ code: 'limit_reached' });
    expect(configuration.rules.get(idOf('r1'))?.filter_label).toHaveLength(50_000);
  });
});

describe('activating many rules', () => {
  const three = () => configured(createRule('a'), createRule('b'), createRule('c', { active: false }));

  test('all listed rules get the value, in one event; repeated ids count once', () => {
    const done = when(setRulesActive(['a', 'b', 'a', 'c'], false), three());
    expect(done).toMatchObject({
      result: { updated_count: 3, updated_rules: [idOf('a'), idOf('b'), idOf('c')] },
    });
    expect(done.events).toHaveLength(1);
    expect(done.events[0]?.payload).toMatchObject({
      active: false,
      rules: [
        { rule_id: idOf('a'), version: 2 },
        { rule_id: idOf('b'), version: 2 },
      ],
    });
  });

  test('with one unknown id no rule changes: 404 names it', () => {
    expect(when(setRulesActive(['a', 'unknown', 'b'], false), three())).toMatchObject({
      code: 'rule_not_found',
      status: 404,
      events: [],
      errors: [{ path: 'body.rule_ids[1]' }],
    });
  });

  test('without ids: no change, count 0; without a value: the ids are checked and no rule changes', () => {
    expect(when(setRulesActive([], false), three())).toMatchObject({
      events: [],
      result: { updated_count: 0, updated_rules: [] },
    });
    expect(when(setRulesActive(['a']), three())).toMatchObject({ events: [], result: { updated_count: 1 } });
    expect(when(setRulesActive(['unknown']), three())).toMatchObject({ code: 'rule_not_found' });
  });

  test('rules that have the value already are counted and keep their version', () => {
    expect(when(setRulesActive(['a', 'b'], true), three())).toMatchObject({
      events: [],
      result: { updated_count: 2 },
    });
  });

  test('ids in capital letters are the same ids', () => {
    expect(when(setRulesActive([], true, { rule_ids: [idOf('a').toUpperCase()] }), three())).toMatchObject({
      result: { updated_rules: [idOf('a')] },
    });
  });
});

const command = fc.oneof(
  fc
    .record({ name: fc.constantFrom('A', 'B', 'C'), active: fc.boolean() })
    .map(({ name, active }) => createRuleset(name, { active })),
  fc
    .record({
      name: fc.constantFrom('A', 'B', 'C'),
      to: fc.constantFrom('A', 'D', 'E'),
      active: fc.boolean(),
    })
    .map(({ name, to, active }) => updateRuleset(name, { name: to, active })),
  fc
    .record({ name: fc.constantFrom('r1', 'r2', 'r3', 'r4'), ruleset: fc.option(fc.constantFrom('A', 'B')) })
    .map(({ name, ruleset }) => createRule(name, ruleset === null ? {} : { ruleset_id: idOf(ruleset) })),
  fc
    .record({
      names: fc.array(fc.constantFrom('r1', 'r2', 'r3', 'r4'), { maxLength: 4 }),
      active: fc.boolean(),
    })
    .map(({ names, active }) => setRulesActive(names, active)),
  fc
    .record(
      {
        name: fc.constantFrom('r1', 'r2', 'r3', 'r4'),
        ruleset: fc.constantFrom('A', 'B'),
        event_type: fc.constantFrom('Page View', 'Email Open'),
        weight: fc.integer({ min: 1, max: 3 }),
        label: fc.constantFrom(null, 'One', 'Two'),
        clears_filters: fc.boolean(),
        active: fc.boolean(),
        starts_at: fc.constantFrom(null, at),
        ends_at: fc.constantFrom(null, at),
      },
      { requiredKeys: ['name'] },
    )
    .map(({ name, ruleset, clears_filters, ...changes }) =>
      updateRule(name, {
        ...changes,
        ...(ruleset !== undefined && { ruleset_id: idOf(ruleset) }),
        ...(clears_filters && { attribute_filters: null }),
      }),
    ),
  fc.constantFrom('r1', 'r2', 'r3', 'r4').map((name) => deleteRule(name)),
  fc.constantFrom('A', 'B', 'C').map((name) => deleteRuleset(name)),
  fc.constant(deleteRuleset('Default', { ruleset_id: defaultRulesetIdOf(ouId) })),
  fc
    .uniqueArray(fc.constantFrom('Cold', 'cold', 'Warm', 'Hot'), { maxLength: 4 })
    .map((names) => setLevels(names.map((name, index) => [name, 10 * index, 10 * index + 9]))),
);

describe('laws', () => {
  test('a repeated command changes nothing; what is deleted does not come back; replaying the events gives the state; events fit their schemas', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
        let state = emptyConfiguration(ouId);
        const events: ConfigurationEvent[] = [];
        const deleted = new Set<string>();
        for (const one of commands) {
          const decision = decideConfiguration(one, state);
          if (decision.outcome === 'rejected') continue;
          for (const event of decision.events)
            expect(configurationRecords[event.type].schema.safeParse(event.payload).error).toBeUndefined();
          events.push(...decision.events);
          state = decision.events.reduce(evolveConfiguration, state);
          const again = decideConfiguration(one, state);
          if (one.type !== 'DeleteRule' && one.type !== 'DeleteRuleset')
            expect(again).toEqual({ outcome: 'done', events: [] });
          else {
            deleted.add('rule_id' in one.payload ? one.payload.rule_id : one.payload.ruleset_id);
            expect(again).toMatchObject({ code: expect.stringMatching(/_not_found$/) });
          }
          for (const id of deleted)
            expect([...state.rules.keys(), ...state.rulesets.keys()]).not.toContain(id);
          for (const { ruleset_id } of state.rules.values())
            expect([...state.rulesets.keys()]).toContain(ruleset_id);
        }
        expect(events.reduce(evolveConfiguration, emptyConfiguration(ouId))).toEqual(state);
        expect(state.version).toBe(events.length);
        expect(unpackConfiguration(state, packConfiguration(state))).toEqual(state);
        const names = [...state.rulesets.values()].map(({ name }) => name.toLowerCase());
        expect(new Set(names).size).toBe(names.length);
      }),
      { numRuns: Math.max(500, lawRuns) },
    );
  });
});
