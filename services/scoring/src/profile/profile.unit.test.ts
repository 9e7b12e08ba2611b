// Profile scoring as pure functions: the configuration's decisions, the values of mappings, and the points of profiles.
import { describe, expect, test } from '@jest/globals';
import { records, type AttributeFilter, type JsonObject, type JsonValue } from '@lead-scoring/contracts';
import {
  compileMappings,
  configurationRecords,
  emptyConfiguration,
  evolveConfiguration,
  isDeletedRule,
  mappedValue,
  packConfiguration,
  profileChanges,
  ruleWordsAsOf,
  unpackConfiguration,
  withProfileChanges,
  type ConfigurationEvent,
  type ProfileValues,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { decideConfiguration, resultOf } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import {
  addMapping,
  at,
  createProfileRule,
  createRule,
  createRuleset,
  deleteRule,
  idOf,
  ouId,
  removeMapping,
  setProfileRulesActive,
  setRulesActive,
  updateRule,
  updateRuleset,
} from '../testing/builders.js';
import { rulesOf, versionsOf } from '../rule-history/version-model.js';
import { profileAdjustments, type ProfiledLead } from './decide.js';
import { compileProfile } from './profile-model.js';
import { emptyProfile, withProfilePoints } from './state.js';
import { testProfile } from './test-rules.js';

const fit = createRuleset('Fit', { score_type: 'profile' });
const isVp: AttributeFilter[] = [{ field: 'title', operator: 'contains', value: 'vp' }];

function decided(command: ConfigurationCommand, configuration: ScoringConfiguration) {
  const decision = decideConfiguration(command, configuration);
  if (decision.outcome === 'done')
    for (const { type, payload } of decision.events)
      expect(configurationRecords[type].schema.safeParse(payload).error).toBeUndefined();
  return decision;
}

function given(...commands: ConfigurationCommand[]): ScoringConfiguration {
  return commands.reduce((configuration, command) => {
    const decision = decided(command, configuration);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    return decision.events.reduce(evolveConfiguration, configuration);
  }, emptyConfiguration(ouId));
}

describe('rules over profiles', () => {
  test('a rule is in a profile ruleset, and its answer has its conditions in words', () => {
    const command = createProfileRule('vp', isVp, { label: 'Decision maker' });
    expect(resultOf(command, given(fit, command))).toEqual({
      id: idOf('vp'),
      ruleset_id: idOf('Fit'),
      conditions: isVp,
      filter_label: 'title contains "vp"',
      weight: 20,
      label: 'Decision maker',
      active: true,
      version: 1,
      created_at: at,
      updated_at: at,
    });
  });

  test('the same command again changes nothing', () => {
    const command = createProfileRule('vp', isVp);
    expect(decided(command, given(fit, command))).toEqual({ outcome: 'done', events: [] });
  });

  test('a rule of one kind is refused by a ruleset of another kind, and by an unknown one', () => {
    const both = given(fit, createRuleset('Intent'));
    expect(decided(createProfileRule('vp', isVp, { ruleset_id: idOf('Intent') }), both)).toMatchObject({
      outcome: 'rejected',
      code: 'invalid_request',
      message:
        'The ruleset "Intent" holds engagement rules, which have an event_type. Choose a ruleset with score_type profile, account or deal: GET /rulesets?score_type=profile lists those of profile rules, score_type=account those of account rules, score_type=deal those of deal rules.',
      errors: [
        { path: 'body.ruleset_id', message: 'must be a ruleset with score_type profile, account or deal' },
      ],
    });
    expect(decided(createRule('view', { ruleset_id: idOf('Fit') }), both)).toMatchObject({
      outcome: 'rejected',
      code: 'invalid_request',
      errors: [{ path: 'body.ruleset_id', message: 'must be a ruleset with score_type engagement' }],
    });
    expect(decided(createProfileRule('vp', isVp), given())).toMatchObject({
      outcome: 'rejected',
      code: 'ruleset_not_found',
      message:
        'No ruleset of this organizational unit has this id. GET /rulesets?score_type=profile lists those of profile rules, score_type=account those of account rules, score_type=deal those of deal rules.',
    });
  });

  test('rules of all kinds count towards the limit of an OU', () => {
    const few = given(fit, createProfileRule('vp', isVp), createRule('view'));
    const fill = <Rule>(rules: ReadonlyMap<string, Rule> | undefined) =>
      new Map(
        [...(rules?.values() ?? [])].flatMap((rule) =>
          Array.from({ length: 500 }, (_, index) => [idOf(String(index)), rule] as const),
        ),
      );
    const many = {
      ...few,
      rules: fill(few.rules),
      profile: { mappings: new Map<string, never>(), rules: fill(few.profile?.rules) },
    };
    expect(decided(createProfileRule('one more', isVp), many)).toMatchObject({ code: 'limit_reached' });
    expect(decided(createRule('one more'), many)).toMatchObject({ code: 'limit_reached' });
  });

  test('a new rule warns of one that does the same, and of a field that nothing feeds', () => {
    const twin = createProfileRule('twin', isVp);
    expect(resultOf(twin, given(fit, createProfileRule('vp', isVp), twin))).toMatchObject({
      warnings: [{ code: 'identical_rule' }],
    });
    const typo = createProfileRule('typo', [{ field: 'seniorty', operator: 'exists' }]);
    expect(resultOf(typo, given(fit, addMapping('m', 'seniority', 'metadata.level'), typo))).toMatchObject({
      warnings: [
        { code: 'profile_field_not_fed', message: expect.stringContaining('did you mean "seniority"') },
      ],
    });
    const known = createProfileRule('known', [{ field: 'email_domain', operator: 'exists' }]);
    expect(resultOf(known, given(fit, known))).not.toHaveProperty('warnings');
  });
});

describe('a change of a profile rule', () => {
  const isLarge: AttributeFilter[] = [{ field: 'size', operator: 'gte', value: 100 }];
  const two = given(
    fit,
    createRuleset('Market', { score_type: 'profile' }),
    createRuleset('Intent'),
    createProfileRule('vp', isVp, { label: 'Decision maker' }),
  );
  const after = (command: ConfigurationCommand) => {
    const decision = decided(command, two);
    if (decision.outcome === 'rejected') throw new Error(decision.message);
    return decision.events.reduce(evolveConfiguration, two);
  };

  test('makes the next version with the named fields; null removes the label', () => {
    const command = updateRule('vp', { conditions: isLarge, weight: -3, label: null });
    expect(decided(command, two)).toMatchObject({ events: [{ type: 'ProfileRuleUpdated' }] });
    expect(resultOf(command, after(command))).toEqual({
      id: idOf('vp'),
      ruleset_id: idOf('Fit'),
      conditions: isLarge,
      filter_label: 'size is at least 100',
      weight: -3,
      active: true,
      version: 2,
      created_at: at,
      updated_at: at,
      warnings: [expect.objectContaining({ code: 'profile_field_not_fed' })],
    });
  });

  test('that changes nothing makes no version', () => {
    expect(decided(updateRule('vp', { weight: 20, conditions: isVp }), two)).toEqual({
      outcome: 'done',
      events: [],
    });
  });

  test('keeps the words of the versions before for explanations, and the rule is not a deleted one', () => {
    const changed = after(updateRule('vp', { conditions: isLarge, label: 'Large' }));
    expect(ruleWordsAsOf(changed, idOf('vp'), 1)).toMatchObject({
      label: 'Decision maker',
      filter_label: 'title contains "vp"',
    });
    expect(isDeletedRule(changed, idOf('vp'))).toBe(false);
    expect(decided(createProfileRule('vp', isVp), changed)).toEqual({ outcome: 'done', events: [] });
  });

  test('moves it to another profile ruleset, and to no other: 400; to an unknown one: 404', () => {
    const moved = after(updateRule('vp', { ruleset_id: idOf('Market') }));
    expect(moved.profile?.rules.get(idOf('vp'))).toMatchObject({ ruleset_id: idOf('Market'), version: 2 });
    expect(decided(updateRule('vp', { ruleset_id: idOf('Intent') }), two)).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'body.ruleset_id' }],
    });
    expect(decided(updateRule('vp', { ruleset_id: idOf('nowhere') }), two)).toMatchObject({
      code: 'ruleset_not_found',
    });
  });

  test.each(['event_type', 'attribute_filters', 'max_count', 'starts_at', 'icon'] as const)(
    'with %s, which engagement rules have, is refused and says so: 400',
    (field) => {
      const values = {
        event_type: 'Page View',
        attribute_filters: [],
        max_count: 3,
        starts_at: at,
        icon: null,
      };
      expect(decided(updateRule('vp', { [field]: values[field] }), two)).toMatchObject({
        code: 'invalid_request',
        errors: [{ path: `body.${field}` }],
      });
    },
  );

  test('with conditions is refused for an engagement rule: 400', () => {
    expect(decided(updateRule('view', { conditions: isVp }), given(createRule('view')))).toMatchObject({
      code: 'invalid_request',
      errors: [{ path: 'body.conditions' }],
    });
  });

  test('is a version of its history, with the fields that it changed', () => {
    const events = [createProfileRule('vp', isVp), updateRule('vp', { weight: 5 }), deleteRule('vp')].reduce<{
      state: ScoringConfiguration;
      log: ConfigurationEvent[];
    }>(
      ({ state, log }, command) => {
        const decision = decided(command, state);
        const made = decision.outcome === 'done' ? decision.events : [];
        return { state: made.reduce(evolveConfiguration, state), log: [...log, ...made] };
      },
      { state: given(fit), log: [] },
    ).log;
    expect(events.every((event) => rulesOf(event).includes(idOf('vp')))).toBe(true);
    expect(versionsOf(events, idOf('vp'))).toMatchObject([
      { version: 1, change: 'created' },
      { version: 2, change: 'changed', fields: [{ field: 'weight', before: 20, after: 5 }] },
      { version: 3, change: 'deleted' },
    ]);
  });
});

describe('a bulk update of profile rules', () => {
  const two = given(fit, createProfileRule('a', isVp), createProfileRule('b', isVp), createRule('view'));

  test('changes each rule once, and a repeated id counts once', () => {
    const command = setProfileRulesActive(['a', 'b', 'a'], false);
    const decision = decided(command, two);
    expect(decision).toMatchObject({
      events: [
        {
          payload: {
            rules: [
              { rule_id: idOf('a'), version: 2 },
              { rule_id: idOf('b'), version: 2 },
            ],
          },
        },
      ],
    });
    expect(resultOf(command, two)).toEqual({ updated_count: 2, updated_rules: [idOf('a'), idOf('b')] });
  });

  test('with an unknown id or that of an engagement rule changes nothing', () => {
    for (const foreign of ['nobody', 'view'])
      expect(decided(setProfileRulesActive(['a', foreign], false), two)).toMatchObject({
        outcome: 'rejected',
        code: 'rule_not_found',
        errors: [{ path: 'body.rule_ids[1]' }],
      });
    expect(decided(setRulesActive(['a'], false), two)).toMatchObject({ code: 'rule_not_found' });
  });

  test('without ids, without a change, or with the state that the rules have makes no event', () => {
    for (const command of [
      setProfileRulesActive([], false),
      setProfileRulesActive(['a']),
      setProfileRulesActive(['a'], true),
    ])
      expect(decided(command, two)).toEqual({ outcome: 'done', events: [] });
  });
});

describe('mappings', () => {
  test('are added and removed; the same field from the same place is one', () => {
    const one = addMapping('m', 'title', 'metadata.job_title', 'trim');
    expect(resultOf(one, given(one))).toEqual({
      id: idOf('m'),
      field: 'title',
      source: 'metadata.job_title',
      transform: 'trim',
      created_at: at,
    });
    expect(decided(one, given(one))).toEqual({ outcome: 'done', events: [] });
    expect(decided(addMapping('n', 'title', 'job_title'), given(one))).toMatchObject({
      code: 'duplicate_mapping',
    });
    expect(given(one, removeMapping('m')).profile?.mappings.size).toBe(0);
    expect(decided(removeMapping('m'), given(one, removeMapping('m')))).toMatchObject({
      code: 'mapping_not_found',
    });
  });

  test('are at most 50 in an OU', () => {
    const many = given(
      ...Array.from({ length: 50 }, (_, index) =>
        addMapping(`m${String(index)}`, 'title', `place ${String(index)}`),
      ),
    );
    expect(decided(addMapping('m', 'company', 'company'), many)).toMatchObject({ code: 'limit_reached' });
  });

  test('are stored with the rules, and read back', () => {
    const whole = given(fit, createProfileRule('vp', isVp), addMapping('m', 'title', 'job.title'));
    const read = unpackConfiguration(whole, packConfiguration(whole));
    expect(JSON.parse(packConfiguration(read))).toEqual(JSON.parse(packConfiguration(whole)));
    expect(read.profile?.rules.get(idOf('vp'))).toEqual(
      JSON.parse(JSON.stringify(whole.profile?.rules.get(idOf('vp')))),
    );
    const without = given(createRule('view'));
    expect(unpackConfiguration(without, packConfiguration(without))).not.toHaveProperty('profile');
  });

  test.each<[JsonValue, Parameters<typeof mappedValue>[1], JsonValue | undefined]>([
    [' VP Sales ', [], ' VP Sales '],
    [' VP Sales ', ['trim', 'lower'], 'vp sales'],
    ['12,500', ['number'], 12_500],
    ['12 500.5', ['number'], 12_500.5],
    [' -3.25 ', ['number'], -3.25],
    ['1,2', ['number'], undefined],
    ['51-200', ['number'], undefined],
    [true, ['number'], undefined],
    ['Ada <x>@Example.COM', ['email_domain'], 'example.com'],
    ['nobody', ['email_domain'], undefined],
    ['@example.com', ['email_domain'], undefined],
    ['Vice President, VP', [{ first_of: ['chief', 'vp'] }], 'vp'],
    ['Analyst', [{ first_of: ['chief', 'vp'] }], undefined],
    [['Ops', 'Chief of Staff'], [{ first_of: ['chief', 'ops'] }], 'chief'],
    [['A', ' ', null, 2, { a: 1 }], [], ['A', 2]],
    [['1', 'x', '2'], ['number'], [1, 2]],
    [{ a: 1 }, [], undefined],
    [null, [], undefined],
    ['', [], undefined],
    ['x'.repeat(600), [], 'x'.repeat(500)],
    [
      Array.from({ length: 40 }, () => 'x'.repeat(200)),
      [],
      Array.from({ length: 10 }, () => 'x'.repeat(100)),
    ],
  ])('%j with %j is %j', (found, steps, value) => {
    expect(mappedValue(found, steps)).toEqual(value);
  });

  test('a long text is cut, and so is a long list', () => {
    expect(mappedValue('x'.repeat(600), [])).toBe('x'.repeat(500));
    const long = Array.from({ length: 40 }, () => 'x'.repeat(200));
    expect(mappedValue(long, [])).toEqual(Array.from({ length: 10 }, () => 'x'.repeat(100)));
  });

  test('of several mappings of a field the oldest that finds a value counts', () => {
    const { profile } = given(addMapping('a', 'title', 'job_title'), addMapping('b', 'title', 'role'));
    const { read } = compileMappings(profile?.mappings.values() ?? []);
    expect([...read({ role: 'Two', job_title: 'One' })]).toEqual([['title', 'One']]);
    expect([...read({ role: 'Two' })]).toEqual([['title', 'Two']]);
  });
});

describe('profile values', () => {
  const hour = (hours: number) => new Date(Date.parse(at) + hours * 3_600_000).toISOString();
  const { profile } = given(addMapping('m', 'title', 'title'), addMapping('n', 'size', 'size', 'number'));
  const reader = compileMappings(profile?.mappings.values() ?? []);
  const event = fc.record({
    hours: fc.integer({ min: 0, max: 3 }),
    title: fc.option(fc.constantFrom('VP', 'Analyst'), { nil: undefined }),
    size: fc.option(fc.constantFrom('5', '10', 'many'), { nil: undefined }),
  });

  test('are those of the latest event time, of one time those of the later event, in any division into records', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 12 }),
        fc.array(fc.nat(12), { maxLength: 4 }),
        (events, cuts) => {
          const log = events.map(({ hours, ...metadata }) => ({
            timestamp: hour(hours),
            metadata: JSON.parse(JSON.stringify(metadata)) as JsonObject,
          }));
          const folded = (bounds: readonly number[]) => {
            let values: ProfileValues = [];
            const edges = [0, ...bounds, log.length].sort((one, other) => one - other);
            for (const [index, from] of edges.entries()) {
              const changes = profileChanges(values, reader, log.slice(from, edges[index + 1] ?? from), at);
              for (const change of changes)
                expect(records.leadScored.schema.shape.profile.safeParse([change]).error).toBeUndefined();
              values = withProfileChanges(values, changes);
            }
            return Object.fromEntries(values.map(({ field, value }) => [field, value]));
          };
          const expected: JsonObject = {};
          for (const field of ['title', 'size'] as const) {
            const named = log.filter(({ metadata }) => reader.read(metadata).has(field));
            const latest = named
              .map(({ timestamp }) => timestamp)
              .sort()
              .at(-1);
            const last = named.filter(({ timestamp }) => timestamp === latest).at(-1);
            if (last) expected[field] = reader.read(last.metadata).get(field) ?? null;
          }
          expect(folded([])).toEqual(expected);
          expect(folded(cuts.map((cut) => Math.min(cut, log.length)))).toEqual(expected);
        },
      ),
    );
  });

  test('of a field that nothing feeds any more are removed', () => {
    const values: ProfileValues = [{ field: 'gone', value: 'x', at }];
    const changes = profileChanges(values, reader, [{ timestamp: at, metadata: { title: 'VP' } }], hour(1));
    expect(changes).toEqual([
      { field: 'gone', value: null, at: hour(1) },
      { field: 'title', value: 'VP', at },
    ]);
    expect(withProfileChanges(values, changes)).toEqual([{ field: 'title', value: 'VP', at }]);
  });
});

describe('points of a profile', () => {
  const leadWith = (title: string | null, profile = emptyProfile): ProfiledLead => ({
    fields: title === null ? {} : { title: { value: title, at } },
    aliases: [{ alias_kind: 'email', alias: 'ada@example.com' }],
    profile,
  });
  const compiled = (...commands: ConfigurationCommand[]) => {
    const whole = compileProfile(given(fit, ...commands));
    if (!whole) throw new Error('profile scoring is configured');
    return whole;
  };
  const vp = createProfileRule('vp', isVp);

  test('are given when a rule begins to match, and taken when it stops', () => {
    const gained = profileAdjustments(leadWith('VP Sales'), compiled(vp));
    expect(gained).toEqual([
      { reason: 'profile_rule', rule_id: idOf('vp'), rule_version: 1, ruleset_id: idOf('Fit'), points: 20 },
    ]);
    const has = withProfilePoints(undefined, { score: 20, adjustments: gained });
    expect(profileAdjustments(leadWith('VP Ops', has), compiled(vp))).toEqual([]);
    expect(profileAdjustments(leadWith('Analyst', has), compiled(vp))).toMatchObject([{ points: -20 }]);
    expect(
      withProfilePoints(has, {
        score: 0,
        adjustments: profileAdjustments(leadWith('Analyst', has), compiled(vp)),
      }),
    ).toEqual(emptyProfile);
  });

  test('of a rule or ruleset that is switched off are taken, with the version of the rule', () => {
    const has = withProfilePoints(undefined, {
      score: 20,
      adjustments: profileAdjustments(leadWith('VP'), compiled(vp)),
    });
    expect(
      profileAdjustments(leadWith('VP', has), compiled(vp, setProfileRulesActive(['vp'], false))),
    ).toMatchObject([{ rule_version: 2, points: -20 }]);
    expect(
      profileAdjustments(leadWith('VP', has), compiled(vp, updateRuleset('Fit', { active: false }))),
    ).toMatchObject([{ rule_version: 1, points: -20 }]);
  });

  test('of a rule that moved to another ruleset are taken in the one and given in the other', () => {
    const market = createRuleset('Market', { score_type: 'profile' });
    const has = withProfilePoints(undefined, {
      score: 20,
      adjustments: profileAdjustments(leadWith('VP'), compiled(vp)),
    });
    const moved = compiled(market, vp, updateRule('vp', { ruleset_id: idOf('Market') }));
    const adjustments = profileAdjustments(leadWith('VP', has), moved);
    expect(adjustments).toMatchObject([
      { ruleset_id: idOf('Fit'), points: -20 },
      { ruleset_id: idOf('Market'), points: 20 },
    ]);
    const after = withProfilePoints(has, { score: 20, adjustments });
    expect(after.given).toMatchObject([{ rule_id: idOf('vp'), rule_version: 2, ruleset_id: idOf('Market') }]);
    expect(profileAdjustments(leadWith('VP', after), moved)).toEqual([]);
  });

  test('are held within the limits of their ruleset, and released with the points that were held', () => {
    const limited = (...commands: ConfigurationCommand[]) =>
      compiled(updateRuleset('Fit', { max_score: 25, min_score: -10 }), ...commands);
    const second = createProfileRule('title', [{ field: 'title', operator: 'exists' }], { weight: 15 });
    const both = profileAdjustments(leadWith('VP'), limited(vp, second));
    expect(both).toMatchObject([
      { points: 20 },
      { points: 15 },
      { reason: 'held_by_ruleset', ruleset_id: idOf('Fit'), points: -10 },
    ]);
    const has = withProfilePoints(undefined, { score: 25, adjustments: both });
    expect(profileAdjustments(leadWith('VP', has), limited(vp, second))).toEqual([]);
    expect(profileAdjustments(leadWith('Analyst', has), limited(vp, second))).toMatchObject([
      { points: -20 },
      { reason: 'held_by_ruleset', points: 10 },
    ]);
    // A limit that is taken away gives back what it held.
    expect(profileAdjustments(leadWith('VP', has), compiled(vp, second))).toMatchObject([
      { reason: 'held_by_ruleset', points: 10 },
    ]);
  });

  test('an OU that never configured profile scoring has nothing to decide', () => {
    expect(compileProfile(given(createRule('view')))).toBeNull();
    expect(compileProfile(given(fit))).toBeNull();
  });

  test('the e-mail domain of the alias is a field, and a mapped field takes the place of a known one', () => {
    const known = compiled(
      createProfileRule('domain', [{ field: 'email_domain', operator: 'equals', value: 'example.com' }]),
      createProfileRule('vp', isVp),
    );
    const mapped = { ...emptyProfile, values: [{ field: 'title', value: 'VP', at }] };
    expect(profileAdjustments(leadWith('Analyst', mapped), known)).toMatchObject([
      { rule_id: idOf('domain') },
      { rule_id: idOf('vp') },
    ]);
  });
});

describe('a test of rules', () => {
  const whole = given(
    fit,
    createRuleset('Off', { score_type: 'profile', active: false }),
    createProfileRule('vp', isVp, { label: 'Decision maker' }),
    createProfileRule('small', [{ field: 'size', operator: 'lt', value: 10 }], { weight: -5 }),
    createProfileRule('idle', isVp, { active: false }),
    createProfileRule('silent', isVp, { ruleset_id: idOf('Off') }),
  );

  test('says for each rule and draft whether it matches, what it gives and why', () => {
    const tested = testProfile({ title: 'VP Sales', tags: ['a', 'b'] }, whole, [
      { conditions: [{ field: 'tags', operator: 'equals', value: 'b' }], weight: 7 },
      { conditions: [{ field: 'tags', operator: 'equals', value: 'c' }], weight: 9 },
    ]);
    expect(tested).toMatchObject({ points: 27, profile: { title: 'VP Sales' }, rules_total: 6 });
    expect(tested.rules.map(({ rule_id, matched, points, why }) => [rule_id, matched, points, why])).toEqual([
      [idOf('vp'), true, 20, 'Matches: title contains "vp", and title is "VP Sales".'],
      [
        idOf('small'),
        false,
        0,
        'Does not match: the rule asks that size is less than 10, but the profile has no size.',
      ],
      [
        idOf('idle'),
        true,
        0,
        'Matches: title contains "vp", and title is "VP Sales". No points, because the rule is switched off.',
      ],
      [
        idOf('silent'),
        true,
        0,
        'Matches: title contains "vp", and title is "VP Sales". No points, because its ruleset "Off" is switched off.',
      ],
      [null, true, 7, 'Matches: tags is "b", and tags is "a", "b".'],
      [null, false, 0, 'Does not match: the rule asks that tags is "c", but tags is "a", "b".'],
    ]);
  });

  test('counts what limits of rulesets hold, and says so', () => {
    const limited = given(fit, updateRuleset('Fit', { max_score: 12 }), createProfileRule('vp', isVp));
    expect(testProfile({ title: 'VP' }, limited, [{ conditions: isVp, weight: 7 }])).toMatchObject({
      points: 19,
      held: [{ ruleset_id: idOf('Fit'), points: -8, why: 'The ruleset "Fit" gives at most 12.' }],
    });
    expect(testProfile({ title: 'Analyst' }, limited, [])).not.toHaveProperty('held');
  });

  test('gives the points that a decision gives', () => {
    const compiled = compileProfile(whole);
    fc.assert(
      fc.property(fc.constantFrom('VP', 'Analyst', 'vp of nothing'), (title) => {
        const lead: ProfiledLead = { fields: { title: { value: title, at } }, aliases: [] };
        const points = compiled ? profileAdjustments(lead, compiled) : [];
        expect(testProfile({ title }, whole, []).points).toBe(
          points.reduce((sum, one) => sum + one.points, 0),
        );
      }),
    );
  });
});
