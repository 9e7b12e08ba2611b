// Laws of the document of a configuration, from the request to the decision: what GET answers PUT takes without a change, an export
// makes the same configuration in an empty organizational unit, and PUT refuses what the single requests refuse, with their words.
import { describe, expect, test } from '@jest/globals';
import { records, routes, type RouteName } from '@lead-scoring/contracts';
import {
  emptyConfiguration,
  evolveConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import { parseOrProblem, ProblemError } from '@lead-scoring/service';
import fc from 'fast-check';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { at, deleteRule, idOf, otherOuId, ouId } from '../testing/builders.js';
import { documentOf } from './document-model.js';

type Json = Record<string, unknown>;
interface Outcome {
  configuration: ScoringConfiguration;
  /** How many events the decision has; null: it is refused. */
  events: number | null;
  code?: string;
  message?: string;
  errors?: { path: string; message: string }[];
}

let changes = 0;
const own = (configuration: ScoringConfiguration) => ({ ou_id: configuration.ou_id, requested_at: at });
const newId = () => idOf(`change ${String((changes += 1))}`);

function decided(command: ConfigurationCommand, configuration: ScoringConfiguration): Outcome {
  const decision = decideConfiguration(command, configuration);
  if (decision.outcome === 'rejected') return { configuration, events: null, ...decision };
  return {
    configuration: decision.events.reduce(evolveConfiguration, configuration),
    events: decision.events.length,
  };
}

/** Sends a body through the check of the route and the decision of the command. */
function sent(
  route: RouteName,
  body: unknown,
  configuration: ScoringConfiguration,
  commandOf: (parsed: Json) => ConfigurationCommand,
): Outcome {
  const declared = routes[route];
  if (!('body' in declared)) throw new Error(`${route} takes no body`);
  let parsed: Json;
  try {
    parsed = parseOrProblem(declared.body, body, 'body') as Json;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { code, message, errors } = error;
    return { configuration, events: null, code, message, ...(errors && { errors: [...errors] }) };
  }
  // As the command is on the log.
  return decided(JSON.parse(JSON.stringify(commandOf(parsed))) as ConfigurationCommand, configuration);
}

const put = (body: unknown, configuration: ScoringConfiguration) =>
  sent('putConfiguration', body, configuration, (parsed) => ({
    type: 'ApplyConfiguration',
    payload: {
      ...own(configuration),
      change_id: newId(),
      configuration: parsed,
      dry_run: false,
    },
  }));

/** The document as GET answers it. */
function documentIn(configuration: ScoringConfiguration): Json {
  const document = JSON.parse(JSON.stringify(documentOf(configuration))) as Json;
  expect(routes.getConfiguration.responses[200].schema.safeParse(document).error).toBeUndefined();
  return document;
}

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const name = fc.constantFrom('Intent', 'Interest', 'Fit', 'Company', 'Size', 'intent');
const operand = fc.constantFrom<unknown>('a', 'b', 7, true);
const attributeFilter = fc.oneof(
  fc.record({
    field: fc.constantFrom('path', 'seniority', 'stage'),
    operator: fc.constantFrom('equals', 'contains'),
    value: operand,
  }),
  fc.record({
    field: fc.constantFrom('size', 'amount'),
    operator: fc.constantFrom('gt', 'lte'),
    value: fc.constantFrom<unknown>(5, '2026-01-31', 'many'),
  }),
  fc.record({
    field: fc.constant('path'),
    operator: fc.constant('in'),
    value: fc.constantFrom(['a'], ['a', 7], []),
  }),
  fc.record({ field: fc.constant('path'), operator: fc.constantFrom('exists', 'not_exists') }),
);
const limit = (...values: (number | null)[]) => optional(fc.constantFrom(...values));
const rule = fc.record({
  event_type: fc.constantFrom('Page View', 'page_view', 'Email Open', ' '),
  weight: fc.constantFrom(1, 5, -3, 10, 0),
  label: optional(fc.constantFrom('One', 'Other')),
  icon: optional(fc.constant('star')),
  active: optional(fc.boolean()),
  attribute_filters: optional(fc.array(attributeFilter, { maxLength: 2 })),
  starts_at: optional(fc.constantFrom('2026-01-01T00:00:00Z', '2026-02-01T00:00:00+01:00')),
  ends_at: optional(fc.constantFrom('2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z')),
  max_count: limit(1, 20),
  once_per: optional(fc.constantFrom('event', 'lead', 'value:path', 'week')),
  cap_points: limit(3, 50),
  cap_days: limit(7),
});
const profileRule = fc.record({
  conditions: fc.array(attributeFilter, { maxLength: 2 }),
  weight: fc.constantFrom(20, -5, 0),
  label: optional(fc.constantFrom('One', 'Other')),
  active: optional(fc.boolean()),
});
const rulesetFields = {
  name,
  active: optional(fc.boolean()),
  min_score: limit(-10, 0, null, 5),
  max_score: limit(0, 100, null, -5),
};
const level = fc.record({
  name: fc.constantFrom('Cold', 'Warm', 'Hot', 'hot'),
  min_score: optional(fc.constantFrom(null, 0, 10, 50)),
  max_score: optional(fc.constantFrom(null, 9, 49)),
  color: fc.constantFrom('#e8590c', 'red'),
});
const levels = fc.array(level, { maxLength: 3 });
const mapping = fc.record({
  field: fc.constantFrom('seniority', 'size', 'Size'),
  source: fc.constantFrom('metadata.a', 'a', 'b', 'c'),
  transform: optional(fc.constantFrom<unknown>('lower', ['trim', 'number'], { first_of: ['vp'] }, 'upper')),
});
const rollUp = fc.constantFrom<unknown>(
  { method: 'sum' },
  { method: 'top', leads: 3 },
  { method: 'top', leads: 5 },
  { method: 'none' },
  { method: 'top' },
  { method: 'max', leads: 2 },
  { method: 'median' },
);
const bound = fc.constantFrom(10, 20, 30);
const grid = fc.oneof(
  fc.constantFrom(
    null,
    { profile: { A: 30, B: 20, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } },
    { profile: { A: 60, B: 20, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } },
  ),
  fc.record({
    profile: fc.record({ A: bound, B: bound, C: bound }),
    engagement: fc.record({ 1: bound, 2: bound, 3: bound }),
  }),
);
const condition = fc.oneof(
  fc.record({
    field: fc.constant('level'),
    operator: fc.constantFrom('equals', 'not_equals'),
    value: fc.constantFrom('Hot', 'warm', 'Gone'),
  }),
  fc.record({
    field: fc.constant('score'),
    operator: fc.constant('gte'),
    value: fc.constantFrom<unknown>(5, 'x'),
  }),
  fc.record({
    field: fc.constant('last_activity_at'),
    operator: fc.constant('gte'),
    value: fc.constantFrom<unknown>({ days_ago: 7 }, '2026-01-31', '2026-01-31T01:00:00+01:00'),
  }),
);
const byRuleset = fc.record({
  field: fc.constant('ruleset_score'),
  ruleset: name,
  operator: fc.constant('gte'),
  value: fc.constant(5),
});
const group = <Part>(part: fc.Arbitrary<Part>) =>
  fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 2 }).map((all) => ({ all })),
    fc.array(part, { maxLength: 2 }).map((any) => ({ any })),
  );
const filter = fc.record({
  name: fc.constantFrom('Hot', 'hot', 'Active'),
  conditions: group(fc.oneof(condition, byRuleset, group(condition))),
});
const decay = fc.record({
  name: fc.constantFrom('Quiet', 'quiet', 'Slow'),
  mode: fc.constantFrom('inactivity_points', 'percent_interval', 'half_life', 'sudden'),
  points: optional(fc.constantFrom(-5, -10, 5)),
  percent: optional(fc.constantFrom(10, 0.05)),
  half_life_days: optional(fc.constantFrom(30)),
  interval_days: optional(fc.constantFrom(1, 7, 0)),
  floor: optional(fc.constantFrom(0, 10)),
  active: optional(fc.boolean()),
});
const sensibleDecay = fc.constantFrom(
  { mode: 'inactivity_points', points: -5, interval_days: 7 },
  { mode: 'percent_interval', percent: 10, interval_days: 7, floor: 10 },
  { mode: 'half_life', half_life_days: 30, active: false },
);
const documentDecay = fc.oneof(
  decay,
  fc
    .record({
      name: fc.constantFrom('Quiet', 'Slow', 'Other'),
      ruleset: optional(name),
      fields: sensibleDecay,
    })
    .map(({ fields, ...rest }) => ({ ...rest, ...fields })),
);
const document = fc.record(
  {
    engagement_rulesets: fc.array(fc.record({ ...rulesetFields, rules: fc.array(rule, { maxLength: 3 }) }), {
      maxLength: 2,
    }),
    engagement_levels: levels,
    decays: fc.array(documentDecay, { maxLength: 2 }),
    profile_mappings: fc.array(mapping, { maxLength: 3 }),
    profile_rulesets: fc.array(
      fc.record({ ...rulesetFields, rules: fc.array(profileRule, { maxLength: 2 }) }),
      { maxLength: 2 },
    ),
    profile_levels: levels,
    account_levels: levels,
    account_rulesets: fc.array(
      fc.record({ ...rulesetFields, rules: fc.array(profileRule, { maxLength: 2 }) }),
      { maxLength: 2 },
    ),
    account_roll_up: fc.oneof(fc.constant(null), rollUp),
    deal_rulesets: fc.array(fc.record({ ...rulesetFields, rules: fc.array(profileRule, { maxLength: 2 }) }), {
      maxLength: 1,
    }),
    grid,
    filters: fc.array(filter, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

/** Documents are often refused as a whole; sent section by section, much of them is taken. */
const parts = (whole: object) =>
  Object.entries(whole).map(([section, value]) => ({ [section]: value as unknown }));
const configuration = fc
  .array(document, { minLength: 1, maxLength: 5 })
  .map((documents) =>
    documents
      .flatMap((one) => parts(one))
      .reduce<ScoringConfiguration>(
        (before, part) => put(part, before).configuration,
        emptyConfiguration(ouId),
      ),
  );

/** The document, its lists sorted as far as their order means nothing: that of the mappings of one field does. */
function inAnyOrder(of: ScoringConfiguration): Json {
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value
          .map((one: object) => ({ ...one, ...('rules' in one && { rules: sorted(one.rules) }) }))
          .sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))
      : value;
  const { profile_mappings, ...others } = documentIn(of);
  return {
    profile_mappings: [...(profile_mappings as { field: string }[])].sort((left, right) =>
      left.field.localeCompare(right.field),
    ),
    ...Object.fromEntries(Object.entries(others).map(([section, value]) => [section, sorted(value)])),
  };
}

describe('whatever the configuration', () => {
  test('PUT takes what GET answers, and nothing changes', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(configuration, (before) => {
        const document = documentIn(before);
        for (const [section, content] of Object.entries(document))
          if (content !== null && JSON.stringify(content) !== '[]') seen.add(section);
        expect(put(document, before)).toMatchObject({ events: 0 });
        for (const part of parts(document)) expect(put(part, before)).toMatchObject({ events: 0 });
      }),
    );
    expect([...seen].sort()).toEqual([...records.configurationSections].sort());
  });

  test('an export makes the same configuration in an empty organizational unit', () => {
    fc.assert(
      fc.property(configuration, (before) => {
        const exported = documentIn(before);
        const copy = put(exported, emptyConfiguration(otherOuId));
        // A filter may go on naming a level or ruleset that is gone; elsewhere it is refused like any other.
        fc.pre(copy.code !== 'level_not_found' && copy.code !== 'ruleset_not_found');
        expect(copy).toMatchObject({ events: expect.any(Number) });
        expect(documentIn(copy.configuration)).toEqual(exported);
      }),
    );
  });

  test('the document of an earlier version makes the configuration equal to that version again', () => {
    let restored = 0;
    fc.assert(
      fc.property(fc.array(document, { minLength: 2, maxLength: 4 }), (documents) => {
        const versions = [emptyConfiguration(ouId)];
        for (const part of documents.flatMap((one) => parts(one))) {
          const before = versions.at(-1) ?? emptyConfiguration(ouId);
          const { configuration: after } = put(part, before);
          if (after !== before) versions.push(after);
        }
        const now = versions.at(-1) ?? emptyConfiguration(ouId);
        for (const earlier of versions) {
          const { configuration: after, code } = put(documentIn(earlier), now);
          // A filter that named something that was gone in that version already.
          if (code === undefined) {
            restored += 1;
            expect(inAnyOrder(after)).toEqual(inAnyOrder(earlier));
            expect(put(documentIn(earlier), after)).toMatchObject({ events: 0 });
          } else expect(['level_not_found', 'ruleset_not_found', 'grid_not_found']).toContain(code);
        }
      }),
    );
    expect(restored).toBeGreaterThan(100);
  });

  test('a section that a document lacks stays as it is, ids and versions included', () => {
    fc.assert(
      fc.property(configuration, document, (before, file) => {
        for (const part of parts(file)) {
          const { configuration: after } = put(part, before);
          const [changed] = Object.keys(part);
          const [one, other] = [documentIn(before), documentIn(after)];
          for (const section of Object.keys(one))
            // A filter names a ruleset that is gone by its id.
            if (section !== changed && section !== 'filters') expect(other[section]).toEqual(one[section]);
          if (changed !== 'filters') expect(after.filters).toEqual(before.filters);
          if (changed !== 'engagement_rulesets') expect(after.rules).toEqual(before.rules);
        }
      }),
    );
  });

  test('a document that is refused changes nothing, and says where in the document', () => {
    fc.assert(
      fc.property(configuration, document, (before, file) => {
        const outcome = put(file, before);
        if (outcome.events !== null) return;
        expect(outcome.configuration).toBe(before);
        for (const { path } of outcome.errors ?? [])
          expect(
            path === 'body' || Object.keys(file).some((section) => path.startsWith(`body.${section}`)),
          ).toBe(true);
      }),
    );
  });
});

/** The outcomes of a single request, and of the document with the same part added. */
interface Pair {
  single: Outcome;
  whole: Outcome;
}

function expectSameWords({ single, whole }: Pair): void {
  expect([whole.events === null, whole.code]).toEqual([single.events === null, single.code]);
  if (single.events !== null) return;
  const said = (outcome: Outcome) => (outcome.errors ?? []).map(({ message }) => message).sort();
  expect(said(whole)).toEqual(said(single));
  if (single.code === 'invalid_request' && single.message?.startsWith('body') === true) return;
  if (single.code === 'invalid_request' && /^\d+ problems/.test(single.message ?? '')) return;
  expect(whole.message).toContain(single.message);
}

const withPart = (before: ScoringConfiguration, section: string, part: unknown) => {
  const document = documentIn(before);
  return put({ [section]: [...(document[section] as unknown[]), part] }, before);
};

/** The document with a rule added to a ruleset. */
const withRule = (before: ScoringConfiguration, section: string, ruleset: string, added: unknown) => {
  const rulesets = documentIn(before)[section] as { name: string; rules: unknown[] }[];
  const changed = rulesets.map((one) =>
    one.name === ruleset ? { ...one, rules: [...one.rules, added] } : one,
  );
  return put({ [section]: changed }, before);
};

const rulesetOf = (before: ScoringConfiguration, scoreType: string) =>
  [...before.rulesets.values()].find(({ score_type }) => score_type === scoreType);

describe('what a single request refuses a document refuses, with the same words, and the reverse:', () => {
  test('rulesets', () => {
    fc.assert(
      fc.property(
        configuration,
        fc.constantFrom('engagement', 'profile', 'account', 'deal'),
        fc.record(rulesetFields),
        (before, score_type, form) => {
          const single = sent('createRuleset', { ...form, score_type }, before, (parsed) => ({
            type: 'CreateRuleset',
            payload: { ...own(before), ruleset_id: newId(), ...parsed } as never,
          }));
          expectSameWords({ single, whole: withPart(before, `${score_type}_rulesets`, form) });
        },
      ),
    );
  });

  test('engagement rules', () => {
    fc.assert(
      fc.property(configuration, rule, (before, form) => {
        const ruleset = rulesetOf(before, 'engagement');
        fc.pre(ruleset !== undefined);
        const single = sent(
          'createEngagementRule',
          { ...form, ruleset_id: ruleset.id },
          before,
          (parsed) => ({
            type: 'CreateRule',
            payload: { ...own(before), rule_id: newId(), ...parsed } as never,
          }),
        );
        expectSameWords({ single, whole: withRule(before, 'engagement_rulesets', ruleset.name, form) });
      }),
    );
  });

  test('rules over profiles, accounts and deals', () => {
    fc.assert(
      fc.property(
        configuration,
        fc.constantFrom('profile', 'account', 'deal'),
        profileRule,
        (before, scoreType, form) => {
          const ruleset = rulesetOf(before, scoreType);
          fc.pre(ruleset !== undefined);
          const single = sent('createRule', { ...form, ruleset_id: ruleset.id }, before, (parsed) => ({
            type: 'CreateProfileRule',
            payload: { ...own(before), rule_id: newId(), ...parsed } as never,
          }));
          expectSameWords({ single, whole: withRule(before, `${scoreType}_rulesets`, ruleset.name, form) });
        },
      ),
    );
  });

  test('mappings', () => {
    fc.assert(
      fc.property(configuration, mapping, (before, form) => {
        const single = sent('addProfileMapping', form, before, (parsed) => ({
          type: 'AddProfileMapping',
          payload: { ...own(before), mapping_id: newId(), ...parsed } as never,
        }));
        const whole = withPart(before, 'profile_mappings', form);
        // A mapping has an id only once it is there.
        const words = single.message?.replace(/The mapping [-0-9a-f]+/, 'Another mapping');
        expectSameWords({ single: { ...single, ...(words !== undefined && { message: words }) }, whole });
      }),
    );
  });

  test('levels of both kinds', () => {
    fc.assert(
      fc.property(configuration, levels, (before, form) => {
        const engagement = sent('setEngagementLevels', { levels: form }, before, (parsed) => ({
          type: 'SetEngagementLevels',
          payload: { ...own(before), ...parsed } as never,
        }));
        expectSameWords({ single: engagement, whole: put({ engagement_levels: form }, before) });
        const profile = sent('setProfileLevels', { levels: form }, before, (parsed) => ({
          type: 'SetProfileLevels',
          payload: { ...own(before), ...parsed } as never,
        }));
        expectSameWords({ single: profile, whole: put({ profile_levels: form }, before) });
      }),
    );
  });

  test('the grid', () => {
    fc.assert(
      fc.property(configuration, grid, (before, form) => {
        const single = sent('setScoringGrid', { grid: form }, before, (parsed) => ({
          type: 'SetScoringGrid',
          payload: { ...own(before), ...parsed } as never,
        }));
        expectSameWords({ single, whole: put({ grid: form }, before) });
      }),
    );
  });

  test('the roll-up of accounts', () => {
    fc.assert(
      fc.property(configuration, rollUp, (before, form) => {
        const single = sent('setAccountRollUp', { roll_up: form }, before, (parsed) => ({
          type: 'SetAccountRollUp',
          payload: { ...own(before), ...parsed } as never,
        }));
        expectSameWords({ single, whole: put({ account_roll_up: form }, before) });
      }),
    );
  });

  test('decay rules', () => {
    fc.assert(
      fc.property(
        configuration,
        fc.oneof(
          decay,
          sensibleDecay.map((fields) => ({ name: 'Another', ...fields })),
        ),
        fc.option(fc.constantFrom('engagement', 'profile')),
        (before, form, scoreType) => {
          const ruleset = scoreType === null ? undefined : rulesetOf(before, scoreType);
          const single = sent(
            'createDecay',
            { ...form, ...(ruleset && { ruleset_id: ruleset.id }) },
            before,
            (parsed) => ({
              type: 'CreateDecay',
              payload: { ...own(before), decay_id: newId(), ...parsed } as never,
            }),
          );
          const whole = withPart(before, 'decays', { ...form, ...(ruleset && { ruleset: ruleset.name }) });
          expectSameWords({ single, whole });
        },
      ),
    );
  });

  test('filters', () => {
    fc.assert(
      fc.property(
        configuration,
        fc.record({
          name: fc.constantFrom('Hot', 'Other', ' '),
          conditions: group(fc.oneof(condition, group(condition))),
        }),
        (before, form) => {
          const single = sent('createFilter', form, before, (parsed) => ({
            type: 'CreateFilter',
            payload: { ...own(before), filter_id: newId(), ...parsed } as never,
          }));
          const whole = withPart(before, 'filters', form);
          expectSameWords({ single, whole });
        },
      ),
    );
  });
});

test('a rule that was deleted is made anew by a document that holds it, with another id', () => {
  const file = { engagement_rulesets: [{ name: 'Intent', rules: [{ event_type: 'Page View', weight: 1 }] }] };
  const first = put(file, emptyConfiguration(ouId)).configuration;
  const [id = ''] = [...first.rules.keys()];
  const command = deleteRule('x');
  const gone = decided(
    { ...command, payload: { ...command.payload, rule_id: id } } as ConfigurationCommand,
    first,
  );
  const again = put(file, gone.configuration).configuration;
  expect([...again.rules.keys()]).not.toContain(id);
  expect(again.rules.size).toBe(1);
});

test.each([
  {
    code: 'level_not_found',
    there: { engagement_levels: [{ name: 'Hot', min_score: 50, max_score: null, color: '#e8590c' }] },
    gone: { engagement_levels: [] },
    condition: { field: 'level', operator: 'equals', value: 'Hot' },
  },
  {
    code: 'grid_not_found',
    there: { grid: { profile: { A: 60, B: 30, C: 10 }, engagement: { 1: 80, 2: 40, 3: 10 } } },
    gone: { grid: null },
    condition: { field: 'grid', operator: 'equals', value: 'A1' },
  },
  {
    code: 'ruleset_not_found',
    there: { engagement_rulesets: [{ name: 'Intent' }] },
    gone: { engagement_rulesets: [] },
    condition: { field: 'ruleset_score', ruleset: 'Intent', operator: 'gte', value: 1 },
  },
])(
  'an earlier version with a filter that names what was gone then is $code once the filter has changed',
  ({ code, there, gone, condition }) => {
    const filters = [{ name: 'To call', conditions: { all: [condition] } }];
    const earlier = [there, { filters }, gone].reduce<ScoringConfiguration>(
      (before, part) => put(part, before).configuration,
      emptyConfiguration(ouId),
    );
    expect(put(documentIn(earlier), earlier)).toMatchObject({ events: 0 });
    const now = put({ filters: [] }, earlier).configuration;
    expect(put(documentIn(earlier), now)).toMatchObject({ events: null, code });
  },
);
