// Filters of leads: groups of conditions on a lead's fields, scores, level and activity, as records and answers hold them. What
// requests may send is narrower: lead-filter-forms.ts.
import { z } from 'zod';
import { id, name, wholeNumber } from '../common.js';
import { filterOperators, matchMissing } from './filters.js';
import { leadFieldNames } from './lead-fields.js';

/** Fields with a text; alias: any of the lead's aliases. A lead may lack each of them. */
export const leadTextFields = [...leadFieldNames, 'alias'] as const;
export type LeadTextField = (typeof leadTextFields)[number];

/** Fields with a number. Every lead has them; `score` is the engagement score, and a lead without profile points has 0. */
export const leadNumberFields = ['score', 'scores.engagement', 'scores.profile', 'event_count'] as const;
export type LeadNumberField = (typeof leadNumberFields)[number];

/** Fields with the level of a score, by its name or id. */
export const leadLevelFields = ['level', 'profile_level'] as const;
export type LeadLevelField = (typeof leadLevelFields)[number];

/** The field with the cell in the grid of profile by engagement. An OU without a grid has no cells. */
export const gridField = 'grid';

/** The field of the points that one ruleset gave; the condition's `ruleset_id` names the ruleset. */
export const rulesetScoreField = 'ruleset_score';

/** Fields with a time. Every lead has them; `created_at` is the time of the first event, as in a lead's answer. */
export const leadTimeFields = ['created_at', 'first_activity_at', 'last_activity_at'] as const;
export type LeadTimeField = (typeof leadTimeFields)[number];

/** Groups in groups, the outermost counted. */
export const maximumFilterDepth = 5;
/** Conditions of a filter, in all of its groups. */
export const maximumFilterConditions = 50;
/** Length of a filter's conditions as JSON, in UTF-16 code units. */
export const maximumFilterLength = 20_000;

/** A time that moves with the clock: so long before the moment at which the filter is read. */
export const relativeTime = z
  .union(
    [
      z.strictObject({ days_ago: wholeNumber(0, 36_500) }),
      z.strictObject({ hours_ago: wholeNumber(0, 876_000) }),
    ],
    { error: 'must be {"days_ago": n} or {"hours_ago": n}' },
  )
  .meta({ id: 'RelativeTime', example: { days_ago: 7 } });
export type RelativeTime = z.infer<typeof relativeTime>;

const operand = z.union([z.string().max(1_000), z.number(), relativeTime]);

const condition = z
  .strictObject({
    field: z.string().max(200),
    ruleset_id: id.optional(),
    operator: z.enum(filterOperators),
    value: z
      .union([operand, z.array(operand).max(100)])
      .nullable()
      .optional(),
    match_missing: matchMissing,
  })
  .meta({ id: 'LeadCondition' });
export type LeadCondition = z.infer<typeof condition>;

/** A condition in a document of the configuration: it names the ruleset, which has another id in each organizational unit. */
const documentCondition = condition
  .omit({ ruleset_id: true })
  .extend({ ruleset: name(100).optional() })
  .meta({ id: 'ConfigurationFilterCondition' });
export type DocumentCondition = z.infer<typeof documentCondition>;

/** All of the parts must hold, or any one of them. */
export type FilterGroup<Condition> =
  { readonly all: readonly FilterPart<Condition>[] } | { readonly any: readonly FilterPart<Condition>[] };
export type FilterPart<Condition> = Condition | FilterGroup<Condition>;

export type LeadFilterGroup = FilterGroup<LeadCondition>;
export type LeadFilterPart = FilterPart<LeadCondition>;
export type DocumentFilterGroup = FilterGroup<DocumentCondition>;

/**
 * A group whose groups nest at most `maximumFilterDepth` deep. The depth is spelt out, because a schema that holds itself is
 * beyond what some schema registries compare.
 * @param named the name of the schemas of groups in published documents
 */
export function groupOf<Condition = LeadCondition>(
  conditionForm: z.ZodType,
  named: string,
): z.ZodType<FilterGroup<Condition>> {
  let group: z.ZodType | undefined;
  for (let depth = maximumFilterDepth; depth >= 1; depth -= 1) {
    const part = group ? z.union([conditionForm, group]) : conditionForm;
    const parts = z
      .array(part)
      .min(1, 'must hold a condition')
      .max(maximumFilterConditions, `must hold at most ${String(maximumFilterConditions)} conditions`);
    group = z
      .union(
        [
          z.strictObject({ all: parts.describe('All must hold.') }),
          z.strictObject({ any: parts.describe('At least one must hold.') }),
        ],
        { error: 'must be {"all": […]} or {"any": […]}' },
      )
      .meta({ id: depth === 1 ? named : `${named}${String(depth)}` });
  }
  return group as z.ZodType<FilterGroup<Condition>>;
}

export const leadFilterGroup = groupOf(condition, 'LeadFilterGroup');

/** The conditions of a filter in a document of the configuration. */
export const documentFilterGroup = groupOf<DocumentCondition>(documentCondition, 'ConfigurationFilterGroup');

/** The parts of a group. */
export function partsOfGroup<Condition>(group: FilterGroup<Condition>): readonly FilterPart<Condition>[] {
  return 'all' in group ? group.all : group.any;
}

export function isLeadFilterGroup<Condition extends object>(
  part: FilterPart<Condition>,
): part is FilterGroup<Condition> {
  return 'all' in part || 'any' in part;
}

/** The group with each of its conditions replaced. */
export function mapConditions<From extends object, To>(
  group: FilterGroup<From>,
  map: (condition: From) => To,
): FilterGroup<To> {
  const parts = partsOfGroup(group).map((part) =>
    isLeadFilterGroup<From>(part) ? mapConditions<From, To>(part, map) : map(part),
  );
  return 'all' in group ? { all: parts } : { any: parts };
}

/** Every condition of a filter, with its path below the outermost group: `all[0].any[1]`. */
export function conditionsWithin<Condition extends object>(
  group: FilterGroup<Condition>,
  at = '',
): [string, Condition][] {
  const kind = 'all' in group ? 'all' : 'any';
  return partsOfGroup(group).flatMap((part, index): [string, Condition][] => {
    const path = `${at}${at === '' ? '' : '.'}${kind}[${String(index)}]`;
    return isLeadFilterGroup<Condition>(part) ? conditionsWithin<Condition>(part, path) : [[path, part]];
  });
}
