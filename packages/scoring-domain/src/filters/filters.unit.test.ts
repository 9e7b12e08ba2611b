// Filters of leads: what each condition asks, the sentence that it is, and the fold of saved filters.
import { describe, expect, test } from '@jest/globals';
import {
  routes,
  type LeadCondition,
  type LeadFilterGroup,
  type LeadFilterPart,
} from '@lead-scoring/contracts';
import fc from 'fast-check';
import { emptyConfiguration, evolveConfiguration } from '../configuration.js';
import { packConfiguration, unpackConfiguration } from '../packed-configuration.js';
import { at, idOf, ouId, rulesetCreated } from '../testing/builders.js';
import { filterArbitrary, filteredLeadArbitrary, filterLevels, filterMoment } from '../testing/filters.js';
import { leadMatches, type FilteredLead } from './evaluate.js';
import { leadFilterLabel } from './label.js';
import { unknownReferences } from './references.js';
import { evolveFilters, type FilterEvent, type SavedFilter } from './saved-filter.js';

const lawRuns = 200;

const moment = filterMoment;

const ada: FilteredLead = {
  fields: { company: { value: 'ACME GmbH' }, title: { value: 'CTO' } },
  aliases: [{ alias: 'ada@example.com' }, { alias: '+4915112345678' }],
  score: 55,
  profile: { score: 20 },
  rulesets: [{ ruleset_id: idOf('Intent'), score: 40 }],
  event_count: 12,
  first_activity_at: '2026-01-01T00:00:00.000Z',
  last_activity_at: '2026-02-25T12:00:00.000Z',
};

const is = (...all: LeadCondition[]) => leadMatches({ all }, ada, moment);

describe('a condition on a text', () => {
  test.each<[LeadCondition, boolean]>([
    [{ field: 'company', operator: 'equals', value: 'acme gmbh' }, true],
    [{ field: 'company', operator: 'equals', value: 'acme' }, false],
    [{ field: 'company', operator: 'not_equals', value: 'acme' }, true],
    [{ field: 'company', operator: 'contains', value: ['nobody', 'ME G'] }, true],
    [{ field: 'company', operator: 'not_contains', value: ['nobody', 'ME G'] }, false],
    [{ field: 'company', operator: 'starts_with', value: 'gmbh' }, false],
    [{ field: 'company', operator: 'ends_with', value: 'gmbh' }, true],
    [{ field: 'company', operator: 'in', value: ['x', 'Acme GMBH'] }, true],
    [{ field: 'company', operator: 'not_in', value: ['x', 'Acme GMBH'] }, false],
    [{ field: 'company', operator: 'exists' }, true],
    // A name was never given: the lead is shown by its alias.
    [{ field: 'name', operator: 'exists' }, false],
    [{ field: 'name', operator: 'not_exists', value: null }, true],
    [{ field: 'owner', operator: 'not_equals', value: 'bob' }, false],
    [{ field: 'owner', operator: 'not_equals', value: 'bob', match_missing: true }, true],
    [{ field: 'owner', operator: 'not_in', value: ['bob'], match_missing: true }, true],
    // Of several aliases, any may match; a negative asks that none does.
    [{ field: 'alias', operator: 'starts_with', value: '+49' }, true],
    [{ field: 'alias', operator: 'not_contains', value: '@' }, false],
  ])('%j: %s', (condition, expected) => {
    expect(is(condition)).toBe(expected);
  });
});

describe('a condition on a score, a level or a number', () => {
  test.each<[LeadCondition, boolean]>([
    [{ field: 'score', operator: 'equals', value: 55 }, true],
    [{ field: 'score', operator: 'gt', value: 54.5 }, true],
    [{ field: 'scores.engagement', operator: 'gt', value: 55 }, false],
    [{ field: 'score', operator: 'between', value: [55, 60] }, true],
    [{ field: 'score', operator: 'not_in', value: [55] }, false],
    [{ field: 'event_count', operator: 'lte', value: 12 }, true],
    [{ field: 'ruleset_score', ruleset_id: idOf('Intent'), operator: 'gte', value: 40 }, true],
    // A ruleset that gave nothing has given 0 points.
    [{ field: 'ruleset_score', ruleset_id: idOf('Fit'), operator: 'lt', value: 1 }, true],
    [{ field: 'ruleset_score', ruleset_id: idOf('Fit'), operator: 'not_equals', value: 0 }, false],
    // 55 lies between Warm and Hot.
    [{ field: 'level', operator: 'exists' }, false],
    [{ field: 'level', operator: 'not_exists' }, true],
    [{ field: 'level', operator: 'not_equals', value: 'Hot' }, false],
    [{ field: 'level', operator: 'not_equals', value: 'Hot', match_missing: true }, true],
    [{ field: 'level', operator: 'in', value: ['warm', 'hot'] }, false],
    [{ field: 'scores.profile', operator: 'gte', value: 20 }, true],
    [{ field: 'scores.profile', operator: 'between', value: [0, 19] }, false],
    [{ field: 'profile_level', operator: 'equals', value: 'good FIT' }, true],
    [{ field: 'profile_level', operator: 'not_equals', value: 'Good fit' }, false],
    // Hot is a level of engagement scores.
    [{ field: 'profile_level', operator: 'in', value: ['Hot'] }, false],
    // A profile of 20 is B, and an engagement of 55 is 2.
    [{ field: 'grid', operator: 'equals', value: 'B2' }, true],
    [{ field: 'grid', operator: 'in', value: ['A1', 'B1'] }, false],
    [{ field: 'grid', operator: 'not_in', value: ['A1', 'B1'] }, true],
    [{ field: 'grid', operator: 'exists' }, true],
    [{ field: 'grid', operator: 'not_exists' }, false],
  ])('%j: %s', (condition, expected) => {
    expect(is(condition)).toBe(expected);
  });

  test('follows the levels of the moment', () => {
    const [cold, warm] = filterLevels;
    if (!cold || !warm) throw new Error('two levels');
    const levels = [cold, { ...warm, max_score: null }];
    const isWarm = { all: [{ field: 'level', operator: 'equals', value: 'WARM' }] } as const;
    expect([leadMatches(isWarm, ada, moment), leadMatches(isWarm, ada, { ...moment, levels })]).toEqual([
      false,
      true,
    ]);
  });
});

describe('a condition on a time', () => {
  test.each<[LeadCondition, boolean]>([
    [{ field: 'last_activity_at', operator: 'gte', value: { days_ago: 7 } }, true],
    [{ field: 'last_activity_at', operator: 'gte', value: { days_ago: 3 } }, false],
    [{ field: 'last_activity_at', operator: 'lt', value: { hours_ago: 24 } }, true],
    // Exactly four days ago.
    [{ field: 'last_activity_at', operator: 'gte', value: { days_ago: 4 } }, true],
    [{ field: 'last_activity_at', operator: 'lt', value: { days_ago: 4 } }, false],
    [{ field: 'last_activity_at', operator: 'between', value: [{ days_ago: 30 }, { days_ago: 4 }] }, true],
    [{ field: 'created_at', operator: 'lte', value: '2026-01-01T00:00:00.000Z' }, true],
    [{ field: 'first_activity_at', operator: 'gt', value: '2026-01-01T00:00:00.000Z' }, false],
  ])('%j: %s', (condition, expected) => {
    expect(is(condition)).toBe(expected);
  });
});

test('an OU without a grid has no cells: conditions on them find no lead, except those on leads without one', () => {
  const bare = { now: moment.now, levels: filterLevels };
  const matches = (condition: LeadCondition) => leadMatches({ all: [condition] }, ada, bare);
  expect(matches({ field: 'grid', operator: 'equals', value: 'B2' })).toBe(false);
  expect(matches({ field: 'grid', operator: 'not_equals', value: 'A1' })).toBe(false);
  expect(matches({ field: 'grid', operator: 'not_equals', value: 'A1', match_missing: true })).toBe(true);
  expect(matches({ field: 'grid', operator: 'exists' })).toBe(false);
  expect(matches({ field: 'grid', operator: 'not_exists' })).toBe(true);
  expect(matches({ field: 'profile_level', operator: 'not_exists' })).toBe(true);
});

test('a condition that this version does not know matches no lead', () => {
  expect(is({ field: 'shoe_size', operator: 'exists' })).toBe(false);
  expect(is({ field: 'score', operator: 'contains', value: '5' })).toBe(false);
  expect(is({ field: 'last_activity_at', operator: 'equals', value: 'x' })).toBe(false);
  expect(is({ field: 'ruleset_score', operator: 'gte', value: 0 })).toBe(false);
});

describe('laws of filters', () => {
  const partsOf = (group: LeadFilterGroup): readonly LeadFilterPart[] =>
    'all' in group ? group.all : group.any;
  const matches = (part: LeadFilterPart, lead: FilteredLead) => leadMatches({ all: [part] }, lead, moment);

  test('all is every part, any is some part, at any depth', () => {
    fc.assert(
      fc.property(filterArbitrary, filteredLeadArbitrary, (group, lead) => {
        const held = partsOf(group).map((part) => matches(part, lead));
        const expected = 'all' in group ? held.every(Boolean) : held.some(Boolean);
        expect(leadMatches(group, lead, moment)).toBe(expected);
      }),
      { numRuns: lawRuns },
    );
  });

  test('a negative with match_missing holds exactly where its positive does not', () => {
    const pairs = [
      ['equals', 'not_equals'],
      ['contains', 'not_contains'],
      ['in', 'not_in'],
      ['exists', 'not_exists'],
    ] as const;
    fc.assert(
      fc.property(filterArbitrary, filteredLeadArbitrary, (group, lead) => {
        for (const part of partsOf(group)) {
          if ('all' in part || 'any' in part) continue;
          const negative = pairs.find(([positive]) => positive === part.operator)?.[1];
          if (!negative) continue;
          const opposite = { ...part, operator: negative, match_missing: true };
          expect(matches(opposite, lead)).toBe(!matches(part, lead));
        }
      }),
      { numRuns: lawRuns },
    );
  });

  test('every filter of the form is taken by the route, unchanged, and has a sentence', () => {
    fc.assert(
      fc.property(filterArbitrary, (conditions) => {
        const taken = routes.previewFilter.body.safeParse({ conditions });
        expect(taken.error?.issues).toBe(undefined);
        expect(taken.data?.conditions).toEqual(JSON.parse(JSON.stringify(conditions)));
        expect(leadFilterLabel(conditions, { rulesets: new Map() })).not.toBe('');
      }),
      { numRuns: lawRuns },
    );
  });
});

describe('the sentence of a filter', () => {
  const { rulesets } = evolveConfiguration(emptyConfiguration(ouId), {
    type: 'RulesetCreated',
    payload: rulesetCreated(),
  });
  const labelOf = (conditions: LeadFilterGroup) => leadFilterLabel(conditions, { rulesets });

  test.each<[string, LeadFilterGroup]>([
    [
      'company contains "acme" and (level is "Hot" or score is at least 50) and last activity is in the last 7 days',
      {
        all: [
          { field: 'company', operator: 'contains', value: 'acme' },
          {
            any: [
              { field: 'level', operator: 'equals', value: 'Hot' },
              { field: 'score', operator: 'gte', value: 50 },
            ],
          },
          { field: 'last_activity_at', operator: 'gte', value: { days_ago: 7 } },
        ],
      },
    ],
    [
      'score of "Intent" is between 1 and 5 or owner is missing',
      {
        any: [
          { field: 'ruleset_score', ruleset_id: idOf('ruleset'), operator: 'between', value: [1, 5] },
          { all: [{ field: 'owner', operator: 'not_exists' }] },
        ],
      },
    ],
    [
      'first activity is more than 1 hour ago and last activity is from 2026-01-31 on',
      {
        all: [
          { field: 'created_at', operator: 'lt', value: { hours_ago: 1 } },
          { field: 'last_activity_at', operator: 'gte', value: '2026-01-31T00:00:00.000Z' },
        ],
      },
    ],
    [
      'last activity is between 30 days and 7 days ago and title is none of "CEO", "CTO" or is missing',
      {
        all: [
          { field: 'last_activity_at', operator: 'between', value: [{ days_ago: 30 }, { days_ago: 7 }] },
          { field: 'title', operator: 'not_in', value: ['CEO', 'CTO'], match_missing: true },
        ],
      },
    ],
  ])('%s', (sentence, conditions) => {
    expect(labelOf(conditions)).toBe(sentence);
  });
});

test('levels, cells and rulesets that the OU does not have are found, with their paths', () => {
  const conditions: LeadFilterGroup = {
    any: [
      { field: 'level', operator: 'in', value: ['hot', 'Icy'] },
      { all: [{ field: 'ruleset_score', ruleset_id: idOf('Fit'), operator: 'gte', value: 1 }] },
      { field: 'level', operator: 'equals', value: idOf('Warm') },
      { field: 'profile_level', operator: 'equals', value: 'Hot' },
      { field: 'grid', operator: 'in', value: ['A1', 'B1'] },
    ],
  };
  const unknown = [
    { kind: 'level', named: 'Icy', path: 'any[0].value[1]' },
    { kind: 'ruleset', named: idOf('Fit'), path: 'any[1].all[0].ruleset_id' },
    { kind: 'profile_level', named: 'Hot', path: 'any[3].value' },
  ];
  expect(unknownReferences(conditions, { levels: filterLevels, rulesets: new Map() })).toEqual([
    ...unknown,
    { kind: 'grid', named: 'A1', path: 'any[4].value[0]' },
    { kind: 'grid', named: 'B1', path: 'any[4].value[1]' },
  ]);
  expect(unknownReferences(conditions, { ...filterMoment, rulesets: new Map() })).toEqual(unknown);
});

describe('saved filters', () => {
  const event = fc
    .tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom('set', 'set', 'delete'),
      filterArbitrary,
      fc.nat(9),
    )
    .map(([name, change, conditions, version]): FilterEvent => {
      const filter = { ou_id: ouId, filter_id: idOf(name), at };
      return change === 'delete'
        ? { type: 'FilterDeleted', payload: filter }
        : { type: 'FilterUpdated', payload: { ...filter, name, conditions, version: version + 1 } };
    });

  test('are those that were set and not deleted since; packing loses nothing, and each change is one version', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), (events) => {
        const configuration = events.reduce(evolveConfiguration, emptyConfiguration(ouId));
        const left = new Map<string, string>();
        for (const { type, payload } of events)
          if (type === 'FilterDeleted') left.delete(payload.filter_id);
          else left.set(payload.filter_id, payload.name);
        expect(new Map([...configuration.filters].map(([id, { name }]) => [id, name]))).toEqual(left);
        expect(configuration.version).toBe(events.length);
        const packed = packConfiguration(configuration);
        const read = unpackConfiguration({ ou_id: ouId, version: configuration.version }, packed);
        expect(JSON.parse(packConfiguration(read))).toEqual(JSON.parse(packed));
        // Twice is once.
        const last = events.at(-1);
        if (last) expect(evolveFilters(configuration.filters, last)).toEqual(configuration.filters);
      }),
      { numRuns: lawRuns },
    );
  });

  test('keep their time of creation', () => {
    const saved = { ou_id: ouId, filter_id: idOf('f'), name: 'F', conditions: { all: [] }, version: 1 };
    const later = '2026-02-01T00:00:00.000Z';
    const filters = [
      { type: 'FilterCreated', payload: { ...saved, at } },
      { type: 'FilterUpdated', payload: { ...saved, name: 'G', version: 2, at: later } },
    ].reduce<ReadonlyMap<string, SavedFilter>>(
      (known, one) => evolveFilters(known, one as FilterEvent),
      new Map<string, SavedFilter>(),
    );
    expect(filters.get(idOf('f'))).toMatchObject({
      name: 'G',
      created_at: at,
      updated_at: later,
      version: 2,
    });
  });

  test('a configuration that was stored before there were filters has none', () => {
    const read = unpackConfiguration({ ou_id: ouId, version: 1 }, '{"rulesets":[],"rules":[]}');
    expect(read.filters.size).toBe(0);
  });
});
