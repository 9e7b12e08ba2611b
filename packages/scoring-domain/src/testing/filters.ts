// Random filters and leads for tests. Texts, scores and times come from a few values, so that conditions often hold.
import {
  conditionsWithin,
  gridField,
  leadFieldNames,
  leadLevelFields,
  leadNumberFields,
  leadTextFields,
  leadTimeFields,
  maximumFilterConditions,
  type Grid,
  type LeadCondition,
  type LeadFilterGroup,
  type LeadFilterPart,
} from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { FilteredLead } from '../filters/evaluate.js';
import type { FilterMoment } from '../filters/resolve.js';
import type { Levels } from '../level-history.js';
import { idOf } from './builders.js';

export const filterNow = new Date('2026-03-01T12:00:00.000Z');

export const filterLevels: Levels = [
  { id: idOf('Cold'), name: 'Cold', min_score: null, max_score: 9, color: '#4c6ef5' },
  { id: idOf('Warm'), name: 'Warm', min_score: 10, max_score: 49, color: '#f59f00' },
  { id: idOf('Hot'), name: 'HOT', min_score: 60, max_score: null, color: '#e8590c' },
];

export const filterProfileLevels: Levels = [
  { id: idOf('Poor fit'), name: 'Poor fit', min_score: null, max_score: 0, color: '#4c6ef5' },
  { id: idOf('Good fit'), name: 'GOOD fit', min_score: 10, max_score: null, color: '#e8590c' },
];

export const filterGrid: Grid = { profile: { A: 60, B: 10, C: 0 }, engagement: { 1: 60, 2: 49, 3: 1 } };

/** The moment at which tests read filters. */
export const filterMoment: FilterMoment = {
  now: filterNow,
  levels: filterLevels,
  profile_levels: filterProfileLevels,
  grid: filterGrid,
};

const rulesets = [idOf('Intent'), idOf('Fit')];

// Letters that lower-case in more than one way, signs of patterns and operators of the database.
const text = fc.oneof(
  fc.constantFrom(
    'Acme',
    'ACME GmbH',
    'acme',
    'Straße',
    'İstanbul',
    'ΣΟΦΟΣ',
    'σοφος',
    'a.b',
    '$gt',
    '(a+)+$',
    'x\ny',
  ),
  fc.string({
    unit: fc.constantFrom('a', 'A', 'c', 'ß', 'İ', 'Σ', '.', '*', '\\', '^', '$', ' ', '😀'),
    minLength: 1,
    maxLength: 4,
  }),
);
const operandText = text.filter((value) => !value.includes('\n'));
const score = fc.constantFrom(-5, 0, 1, 9, 10, 49, 50, 60, 100, 2_147_483_647);
const time = fc.integer({ min: 0, max: 60 * 24 }).map((hours) => hoursAgo(hours));

function hoursAgo(hours: number): string {
  return new Date(filterNow.getTime() - hours * 3_600_000).toISOString();
}

const relative = fc.oneof(
  fc.integer({ min: 0, max: 60 }).map((days_ago) => ({ days_ago })),
  fc.integer({ min: 0, max: 60 * 24 }).map((hours_ago) => ({ hours_ago })),
);
const missing = fc.constantFrom<{ match_missing?: boolean }>({}, { match_missing: true });

const textCondition: fc.Arbitrary<LeadCondition> = fc
  .tuple(
    fc.constantFrom(...leadTextFields),
    fc.oneof(
      fc.tuple(fc.constantFrom('equals', 'not_equals'), operandText),
      fc.tuple(
        fc.constantFrom('contains', 'not_contains', 'starts_with', 'ends_with'),
        fc.oneof(operandText, fc.array(operandText, { minLength: 1, maxLength: 3 })),
      ),
      fc.tuple(fc.constantFrom('in', 'not_in'), fc.array(operandText, { minLength: 1, maxLength: 3 })),
      fc.tuple(fc.constantFrom('exists', 'not_exists'), fc.constant(null)),
    ),
    missing,
  )
  .map(([field, [operator, value], more]) => ({ field, operator, value, ...(value !== null && more) }));

const levelName = fc.constantFrom('cold', 'Warm', 'hot', idOf('Hot'), 'good fit', idOf('Poor fit'), 'gone');
const levelCondition: fc.Arbitrary<LeadCondition> = fc
  .tuple(
    fc.constantFrom(...leadLevelFields),
    fc.oneof(
      fc.tuple(fc.constantFrom('equals', 'not_equals'), levelName),
      fc.tuple(fc.constantFrom('in', 'not_in'), fc.array(levelName, { minLength: 1, maxLength: 3 })),
      fc.tuple(fc.constantFrom('exists', 'not_exists'), fc.constant(null)),
    ),
    missing,
  )
  .map(([field, [operator, value], more]) => ({ field, operator, value, ...(value !== null && more) }));

const cell = fc.constantFrom('A1', 'A2', 'B2', 'C1', 'C4', 'D3', 'D4');
const gridCondition: fc.Arbitrary<LeadCondition> = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constantFrom('equals', 'not_equals'), cell),
      fc.tuple(fc.constantFrom('in', 'not_in'), fc.array(cell, { minLength: 1, maxLength: 3 })),
      fc.tuple(fc.constantFrom('exists', 'not_exists'), fc.constant(null)),
    ),
    missing,
  )
  .map(([[operator, value], more]) => ({ field: gridField, operator, value, ...(value !== null && more) }));

const numberCondition: fc.Arbitrary<LeadCondition> = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...leadNumberFields).map((field) => ({ field })),
      fc.constantFrom(...rulesets).map((ruleset_id) => ({ field: 'ruleset_score', ruleset_id })),
    ),
    fc.oneof(
      fc.tuple(
        fc.constantFrom('equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'),
        fc.oneof(score, fc.constant(0.5)),
      ),
      fc.tuple(fc.constantFrom('in', 'not_in'), fc.array(score, { minLength: 1, maxLength: 3 })),
      fc.tuple(
        fc.constant('between'),
        fc.tuple(score, score).map((pair) => pair.sort((a, b) => a - b)),
      ),
    ),
  )
  .map(([field, [operator, value]]) => ({ ...field, operator, value }));

const timeCondition: fc.Arbitrary<LeadCondition> = fc
  .tuple(
    fc.constantFrom(...leadTimeFields),
    fc.oneof(
      fc.tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte'), fc.oneof(time, relative)),
      fc.tuple(
        fc.constant('between'),
        fc.oneof(
          fc.tuple(time, time).map((pair) => pair.sort()),
          fc
            .tuple(fc.nat(60), fc.nat(60))
            .map((days) => days.sort((a, b) => b - a).map((days_ago) => ({ days_ago }))),
        ),
      ),
    ),
  )
  .map(([field, [operator, value]]) => ({ field, operator, value }));

const condition = fc.oneof(textCondition, levelCondition, gridCondition, numberCondition, timeCondition);

function groupWithin(depth: number): fc.Arbitrary<LeadFilterGroup> {
  const part: fc.Arbitrary<LeadFilterPart> =
    depth === 1
      ? condition
      : fc.oneof({ weight: 3, arbitrary: condition }, { weight: 1, arbitrary: groupWithin(depth - 1) });
  const parts = fc.array(part, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    parts.map((all) => ({ all })),
    parts.map((any) => ({ any })),
  );
}

/** Filters as requests may send them. */
export const filterArbitrary = groupWithin(5).filter(
  (group) => conditionsWithin(group).length <= maximumFilterConditions,
);

const given = text.map((value) => ({ value, at: hoursAgo(0) }));

export const filteredLeadArbitrary: fc.Arbitrary<FilteredLead> = fc
  .record({
    fields: fc.record(Object.fromEntries(leadFieldNames.map((name) => [name, given])), { requiredKeys: [] }),
    aliases: fc.array(
      text.map((alias) => ({ alias_kind: 'external_id', alias })),
      { minLength: 0, maxLength: 3 },
    ),
    score,
    profile: fc.option(fc.record({ score }), { nil: undefined }),
    rulesets: fc.uniqueArray(fc.record({ ruleset_id: fc.constantFrom(...rulesets), score }), {
      selector: ({ ruleset_id }) => ruleset_id,
      maxLength: 2,
    }),
    event_count: fc.constantFrom(1, 9, 10, 50),
    times: fc.tuple(time, time),
  })
  .map(({ times, ...lead }) => {
    const [first_activity_at, last_activity_at] = times.sort();
    return { ...lead, first_activity_at, last_activity_at };
  });
