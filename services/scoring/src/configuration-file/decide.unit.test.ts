// Given a configuration, when a document of another one is applied, then the configuration equals the document, and each rule that the
// document has kept is still the same rule.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import {
  emptyConfiguration,
  evolveConfiguration,
  type ScoringConfiguration,
} from '@lead-scoring/scoring-domain';
import fc from 'fast-check';
import { decideConfiguration } from '../configuration/decide.js';
import type { ConfigurationCommand } from '../configuration/messages.js';
import { at, createRule, createRuleset, idOf, ouId } from '../testing/builders.js';
import { documentOf } from './document-model.js';

type File = records.ConfigurationFile;

let changes = 0;
const apply = (
  configuration: File,
  more: Partial<records.ApplyConfiguration> = {},
): Extract<ConfigurationCommand, { type: 'ApplyConfiguration' }> => ({
  type: 'ApplyConfiguration',
  payload: {
    ou_id: ouId,
    change_id: idOf(`change ${String((changes += 1))}`),
    configuration,
    dry_run: false,
    requested_at: at,
    ...more,
  },
});

/** The configuration after the commands, and the last of their decisions. */
function after(commands: ConfigurationCommand[], before: ScoringConfiguration = emptyConfiguration(ouId)) {
  let configuration = before;
  let decision = decideConfiguration(apply({}), before);
  for (const command of commands) {
    decision = decideConfiguration(command, configuration);
    if (decision.outcome === 'done')
      configuration = decision.events.reduce(evolveConfiguration, configuration);
  }
  return { configuration, decision };
}

const intent = (...rules: records.FileRule[]): File => ({
  engagement_rulesets: [{ name: 'Intent', active: true, rules }],
});
const view: records.FileRule = { event_type: 'Page View', weight: 10, label: 'Viewed a page' };
const open: records.FileRule = { event_type: 'Email Open', weight: 3 };

describe('a document', () => {
  test('creates what there is not, and says so', () => {
    const { configuration, decision } = after([
      apply({
        ...intent(view, open),
        engagement_levels: [{ name: 'Hot', min_score: 50, max_score: null, color: '#e8590c' }],
      }),
    ]);
    expect([...configuration.rules.values()]).toMatchObject([
      { event_type: 'Page View', weight: 10, label: 'Viewed a page', active: true, version: 1 },
      { event_type: 'Email Open', weight: 3, active: true, version: 1 },
    ]);
    expect(decision).toMatchObject({
      result: {
        dry_run: false,
        version: configuration.version,
        total: 4,
        sections: [
          { section: 'engagement_rulesets', added: 3, changed: 0, removed: 0 },
          { section: 'engagement_levels', added: 0, changed: 1, removed: 0 },
        ],
        changes: [
          { section: 'engagement_rulesets', kind: 'ruleset', action: 'add', name: 'Intent' },
          { kind: 'rule', action: 'add', ruleset: 'Intent', name: 'Viewed a page' },
          { kind: 'rule', action: 'add', ruleset: 'Intent', name: 'Email Open' },
          {
            section: 'engagement_levels',
            kind: 'levels',
            action: 'change',
            fields: [{ field: 'Hot', before: null, after: '50 to open, #e8590c' }],
          },
        ],
      },
    });
  });

  test('changes a rule that it finds by its label, by its event type and filters, or by its content, which keeps its id', () => {
    const { configuration } = after([apply(intent(view, open, { ...open, event_type: 'Form Submit' }))]);
    const ids = [...configuration.rules.keys()];
    const changed = after(
      [
        apply(
          intent(
            { ...open, event_type: 'Form Submit' },
            { ...view, weight: 12, event_type: 'Visit' },
            { ...open, weight: 5, label: 'Opened' },
          ),
        ),
      ],
      configuration,
    );
    expect([...changed.configuration.rules.keys()]).toEqual(ids);
    expect([...changed.configuration.rules.values()]).toMatchObject([
      { label: 'Viewed a page', event_type: 'Visit', weight: 12, version: 2 },
      { label: 'Opened', event_type: 'Email Open', weight: 5, version: 2 },
      { event_type: 'Form Submit', version: 1 },
    ]);
    expect(changed.decision).toMatchObject({
      result: {
        total: 2,
        changes: [
          {
            action: 'change',
            name: 'Viewed a page',
            fields: [
              { field: 'event_type', before: 'Page View', after: 'Visit' },
              { field: 'weight', before: '10', after: '12' },
            ],
          },
          {
            action: 'change',
            name: 'Opened',
            fields: [
              { field: 'weight', before: '3', after: '5' },
              { field: 'label', before: null, after: 'Opened' },
            ],
          },
        ],
      },
    });
  });

  test('removes rules and rulesets that it does not hold; a section that it lacks stays', () => {
    const before = after([
      createRuleset('Intent'),
      createRule('view', { ruleset_id: idOf('Intent') }),
      createRuleset('Interest'),
      createRule('open', { ruleset_id: idOf('Interest'), event_type: 'Email Open' }),
    ]).configuration;
    const { configuration, decision } = after([apply(intent())], before);
    expect([[...configuration.rulesets.keys()], configuration.rules.size]).toEqual([[idOf('Intent')], 0]);
    expect(decision).toMatchObject({ result: { total: 3 } });
    expect(after([apply({ engagement_levels: [] })], before).configuration).toEqual(before);
  });

  test('holds the limits of rulesets: a limit that it lacks, or that is null, is gone', () => {
    const before = after([createRuleset('Intent', { min_score: -5, max_score: 50 })]).configuration;
    const only = (limits: object) => ({
      engagement_rulesets: [{ name: 'Intent', active: true, ...limits, rules: [] }],
    });
    const changed = after([apply(only({ max_score: 60, min_score: null }))], before);
    expect(changed.decision).toMatchObject({
      result: {
        total: 1,
        changes: [
          {
            kind: 'ruleset',
            action: 'change',
            fields: [
              { field: 'min_score', before: '-5', after: null },
              { field: 'max_score', before: '50', after: '60' },
            ],
          },
        ],
      },
    });
    expect(documentOf(changed.configuration)).toMatchObject(only({ max_score: 60 }));
    const without = after([apply(only({}))], changed.configuration).configuration;
    expect(documentOf(without).engagement_rulesets).toEqual(only({}).engagement_rulesets);
  });

  test('with dry_run says what would change, and changes nothing', () => {
    const { configuration, decision } = after([apply(intent(view), { dry_run: true })]);
    expect(configuration).toEqual(emptyConfiguration(ouId));
    expect(decision).toMatchObject({ events: [], result: { dry_run: true, version: 0, total: 2 } });
  });

  test('that was meant for another version is refused; one that changes nothing never is', () => {
    const { configuration } = after([apply(intent(view))]);
    const late = { expected_version: configuration.version - 1 };
    expect(after([apply(intent(open), late)], configuration).decision).toMatchObject({
      outcome: 'rejected',
      code: 'configuration_changed',
    });
    expect(after([apply(intent(view), late)], configuration).decision).toMatchObject({ outcome: 'done' });
  });

  test.each<[string, File, string, string | undefined]>([
    [
      'that names a ruleset twice',
      {
        engagement_rulesets: [
          ...(intent().engagement_rulesets ?? []),
          ...(intent(view).engagement_rulesets ?? []),
        ],
      },
      'duplicate_name',
      'body.engagement_rulesets[1].name',
    ],
    [
      'with a rule that never counts',
      intent(view, { ...view, starts_at: at, ends_at: at }),
      'invalid_request',
      'body.engagement_rulesets[0].rules[1].ends_at',
    ],
    [
      'with limits of a rule that contradict each other',
      intent({ ...view, once_per: 'lead', max_count: 2 }),
      'invalid_request',
      'body.engagement_rulesets[0].rules[0].max_count',
    ],
    [
      'with levels that overlap',
      {
        ...intent(view),
        engagement_levels: ['Warm', 'Hot'].map((name) => ({
          name,
          min_score: 1,
          max_score: null,
          color: '#e8590c',
        })),
      },
      'levels_overlap',
      'body.engagement_levels[0]',
    ],
    [
      'with more active rules than an OU may have',
      {
        engagement_rulesets: ['One', 'Other'].map((name) => ({
          name,
          active: true,
          rules: Array.from({ length: 501 }, () => view),
        })),
      },
      'limit_reached',
      undefined,
    ],
  ])('%s is refused as a whole, and the refusal says where', (_, file, code, path) => {
    const { configuration, decision } = after([apply(file)]);
    expect(configuration).toEqual(emptyConfiguration(ouId));
    expect(decision).toMatchObject({
      outcome: 'rejected',
      code,
      ...(path !== undefined && { errors: expect.arrayContaining([expect.objectContaining({ path })]) }),
    });
  });
});

const rule = fc.record(
  {
    event_type: fc.constantFrom('Page View', 'Email Open', 'Form Submit'),
    weight: fc.integer({ min: 1, max: 3 }),
    label: fc.constantFrom('One', 'Other'),
    active: fc.constant(false),
    attribute_filters: fc.constant<NonNullable<records.FileRule['attribute_filters']>>([
      { field: 'path', operator: 'contains' as const, value: '/pricing' },
    ]),
  },
  { requiredKeys: ['event_type', 'weight'] },
);
const file: fc.Arbitrary<File> = fc.record({
  engagement_rulesets: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('Intent', 'Interest', 'Fit'),
      active: fc.boolean(),
      rules: fc.array(rule, { maxLength: 5 }),
    }),
    { maxLength: 3, selector: ({ name }) => name },
  ),
  engagement_levels: fc.constantFrom<NonNullable<File['engagement_levels']>[]>(
    [],
    [{ name: 'Hot', min_score: 5, max_score: null, color: '#e8590c' }],
  ),
});

/** A document without the order of its rulesets and rules, which changes nobody's points. */
function unordered({ engagement_rulesets: rulesets = [], engagement_levels }: File) {
  const texts = rulesets.map(({ rules, ...ruleset }) =>
    JSON.stringify([ruleset, rules.map((one) => JSON.stringify(Object.entries(one).sort())).sort()]),
  );
  return [texts.sort(), engagement_levels];
}

describe('whatever the documents', () => {
  test('the configuration equals the one that was applied last; applied again it changes nothing', () => {
    fc.assert(
      fc.property(fc.array(file, { minLength: 1, maxLength: 4 }), (files) => {
        const { configuration } = after(files.map((one) => apply(one)));
        expect(unordered(documentOf(configuration))).toEqual(unordered(files.at(-1) ?? {}));
        for (const again of [files.at(-1) ?? {}, documentOf(configuration)])
          expect(decideConfiguration(apply(again), configuration)).toMatchObject({
            outcome: 'done',
            events: [],
            result: { total: 0 },
          });
      }),
    );
  });

  test('a document is one that the record takes, and a rule has as many versions as it was changed', () => {
    fc.assert(
      fc.property(file, file, (first, second) => {
        const before = after([apply(first)]).configuration;
        const { configuration } = after([apply(second)], before);
        expect(records.configurationFile.safeParse(documentOf(configuration)).error).toBeUndefined();
        for (const { id, version } of configuration.rules.values())
          expect(version).toBe(
            before.rules.has(id) && before.rules.get(id) !== configuration.rules.get(id) ? 2 : 1,
          );
      }),
    );
  });
});
