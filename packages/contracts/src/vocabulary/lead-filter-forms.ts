// Filters of leads as requests send them. Each field takes the operators that mean something for it: a text is compared as a
// text, a score as a number, a time with a time or with one that moves with the clock.
import { z } from 'zod';
import { id, name, text, timeParameter } from '../common.js';
import { fragmentOperators, matchMissing, maximumFragments } from './filters.js';
import { gridCell, gridCells } from './grid.js';
import {
  conditionsWithin,
  gridField,
  groupOf,
  leadLevelFields,
  leadNumberFields,
  leadTextFields,
  leadTimeFields,
  maximumFilterConditions,
  mapConditions,
  maximumFilterLength,
  relativeTime,
  rulesetScoreField,
  type DocumentCondition,
  type FilterGroup,
} from './lead-filters.js';

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f]/;

const fragment = text(200, { minimum: 1 })
  .refine((value) => !control.test(value), 'must not hold control characters')
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode');

const existence = { operator: z.enum(['exists', 'not_exists']), value: z.null().optional() };

function operatorError(operators: readonly string[]) {
  return { error: `must be one of ${operators.join(', ')}` };
}

const textOperators = [
  'equals',
  'not_equals',
  ...fragmentOperators,
  'in',
  'not_in',
  'exists',
  'not_exists',
] as const;
const textField = z.enum(leadTextFields).describe('alias: any alias of the lead.');
const textCondition = z.discriminatedUnion(
  'operator',
  [
    z.strictObject({
      field: textField,
      operator: z.enum(['equals', 'not_equals']),
      value: fragment,
      match_missing: matchMissing,
    }),
    z.strictObject({
      field: textField,
      operator: z.enum(fragmentOperators),
      value: z.union([fragment, z.array(fragment).min(1).max(maximumFragments)]).describe('Any of them.'),
      match_missing: matchMissing,
    }),
    z.strictObject({
      field: textField,
      operator: z.enum(['in', 'not_in']),
      value: z.array(fragment).min(1).max(100),
      match_missing: matchMissing,
    }),
    z.strictObject({ field: textField, ...existence }),
  ],
  operatorError(textOperators),
);

const levelField = z
  .enum(leadLevelFields)
  .describe('By the name or id of a level: of an engagement level, or of a profile level.');
const levelCondition = z.discriminatedUnion(
  'operator',
  [
    z.strictObject({
      field: levelField,
      operator: z.enum(['equals', 'not_equals']),
      value: name(100),
      match_missing: matchMissing,
    }),
    z.strictObject({
      field: levelField,
      operator: z.enum(['in', 'not_in']),
      value: z.array(name(100)).min(1).max(100),
      match_missing: matchMissing,
    }),
    z.strictObject({ field: levelField, ...existence }),
  ],
  operatorError(['equals', 'not_equals', 'in', 'not_in', 'exists', 'not_exists']),
);

const gridCondition = z.discriminatedUnion(
  'operator',
  [
    z.strictObject({
      field: z.literal(gridField),
      operator: z.enum(['equals', 'not_equals']),
      value: gridCell,
      match_missing: matchMissing,
    }),
    z.strictObject({
      field: z.literal(gridField),
      operator: z.enum(['in', 'not_in']),
      value: z.array(gridCell).min(1).max(gridCells.length),
      match_missing: matchMissing,
    }),
    z.strictObject({ field: z.literal(gridField), ...existence }),
  ],
  operatorError(['equals', 'not_equals', 'in', 'not_in', 'exists', 'not_exists']),
);

const largest = 1e15;
const number = z
  .number(`must be a number from ${String(-largest)} to ${String(largest)}`)
  .min(-largest)
  .max(largest);
const numberRange = z
  .tuple([number, number], { error: 'must be a list of two: the lowest value and the highest' })
  .refine(([low, high]) => low <= high, 'must have the lowest value first: nothing lies between them');
const numberOperators = ['equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'] as const;

const numberCondition = <Shape extends z.ZodRawShape & { field: z.ZodType }>(shape: Shape) =>
  z.discriminatedUnion(
    'operator',
    [
      z.strictObject({ ...shape, operator: z.enum(numberOperators), value: number }),
      z.strictObject({
        ...shape,
        operator: z.enum(['in', 'not_in']),
        value: z.array(number).min(1).max(100),
      }),
      z.strictObject({ ...shape, operator: z.literal('between'), value: numberRange }),
    ],
    operatorError([...numberOperators, 'in', 'not_in', 'between']),
  );

const moment = z
  .union([timeParameter, relativeTime], {
    error: 'must be a time such as 2026-01-31T09:30:00Z, a date, {"days_ago": n} or {"hours_ago": n}',
  })
  .describe('A time or a date, or one that moves with the clock: {"days_ago": 7}, {"hours_ago": 12}.');
const momentRange = z
  .tuple([moment, moment], { error: 'must be a list of two: the earlier time and the later' })
  .refine(
    ([from, to]) => typeof from === typeof to,
    'must be two times, or two that move with the clock: otherwise their order changes',
  )
  .refine(
    ([from, to]) =>
      typeof from === 'string' || typeof to === 'string' ? from <= to : hoursOf(from) >= hoursOf(to),
    'must have the earlier time first: nothing lies between them',
  );
const timeField = z.enum(leadTimeFields);
const timeCondition = z.discriminatedUnion(
  'operator',
  [
    z.strictObject({ field: timeField, operator: z.enum(['gt', 'gte', 'lt', 'lte']), value: moment }),
    z.strictObject({ field: timeField, operator: z.literal('between'), value: momentRange }),
  ],
  operatorError(['gt', 'gte', 'lt', 'lte', 'between']),
);

function hoursOf(time: z.infer<typeof relativeTime>): number {
  return 'days_ago' in time ? time.days_ago * 24 : time.hours_ago;
}

/** As long as the id of a ruleset. */
const lengthOfId = '0'.repeat(36);

const fields = [
  ...leadTextFields,
  ...leadLevelFields,
  gridField,
  ...leadNumberFields,
  rulesetScoreField,
  ...leadTimeFields,
];

/** @param reference the field in which a condition on the points of a ruleset names the ruleset */
const conditionForm = (reference: z.ZodRawShape, named: string) =>
  z
    .discriminatedUnion(
      'field',
      [
        textCondition,
        levelCondition,
        gridCondition,
        numberCondition({ field: z.enum(leadNumberFields) }),
        numberCondition({ field: z.literal(rulesetScoreField), ...reference }),
        timeCondition,
      ],
      { error: `must be one of ${fields.join(', ')}` },
    )
    .meta({ id: named });

/**
 * Bounds a filter in a request.
 * @param recordedOf the filter in the form in which it is recorded: its length is limited
 */
const bounded = <Condition extends object>(
  group: z.ZodType<FilterGroup<Condition>>,
  recordedOf: (group: FilterGroup<Condition>) => unknown,
) =>
  group
    .refine((sent) => conditionsWithin(sent).length <= maximumFilterConditions, {
      error: `must hold at most ${String(maximumFilterConditions)} conditions in all of its groups`,
      abort: true,
    })
    .refine(
      (sent) => JSON.stringify(recordedOf(sent)).length <= maximumFilterLength,
      `must be at most ${maximumFilterLength.toLocaleString('en')} characters as JSON`,
    )
    .describe(
      'All or any of conditions and of further groups. Texts compare without regard to case; a condition on a field that the lead lacks does not hold, except not_exists.',
    )
    .meta({
      example: {
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
    });

/** The conditions of a filter in a request. */
export const leadFilterForm = bounded(
  groupOf(conditionForm({ ruleset_id: id }, 'LeadConditionForm'), 'LeadFilterForm'),
  (group) => group,
);

/** The conditions of a filter in a document of the configuration, which names rulesets in place of ids. */
export const documentFilterForm = bounded(
  groupOf<DocumentCondition>(
    conditionForm(
      { ruleset: name(100).describe('The name of a ruleset.').meta({ example: 'Intent' }) },
      'ConfigurationFilterConditionForm',
    ),
    'ConfigurationFilterForm',
  ),
  (group) =>
    mapConditions(group, ({ ruleset, ...condition }) =>
      ruleset === undefined ? condition : { ...condition, ruleset_id: lengthOfId },
    ),
);
