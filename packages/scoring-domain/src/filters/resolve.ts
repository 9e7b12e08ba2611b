// What a filter asks of a lead at one moment: times that move with the clock are times, levels are ranges of scores, texts are
// lower-cased. The evaluator and scoring's database query are both made from this form, so that they agree. Pure.
import {
  gridCells,
  gridField,
  isLeadFilterGroup,
  leadFieldNames,
  leadLevelFields,
  leadNumberFields,
  leadTimeFields,
  partsOfGroup,
  rulesetScoreField,
  type Grid,
  type LeadCondition,
  type LeadFilterGroup,
  type LeadFilterPart,
  type LeadLevelField,
  type LeadNumberField,
  type LeadTextField,
  type LevelledScoreType,
  type RelativeTime,
} from '@lead-scoring/contracts';
import { rangesOf, type GradeRange } from '../grid.js';
import type { Levels } from '../level-history.js';
import { levelsOfScore } from '../levels.js';

/** The moment at which a filter is read. */
export interface FilterMoment {
  readonly now: Date;
  /** The OU's levels then. */
  readonly levels: Levels;
  /** The OU's levels of profile scores then; absent: none. */
  readonly profile_levels?: Levels;
  /** The OU's grid then; absent: none. */
  readonly grid?: Grid;
}

/** A range: `from` and `to` are inclusive, `above` and `below` exclusive; an absent bound is open. */
export interface FilterRange<Value extends number | string> {
  readonly from?: Value;
  readonly above?: Value;
  readonly to?: Value;
  readonly below?: Value;
}

/** The numbers of a lead; a lead without profile points has a profile_score of 0. */
export type ComparedNumber = 'score' | 'profile_score' | 'event_count';

type Ranges<Value extends number | string> = readonly FilterRange<Value>[];

export type ResolvedFilter =
  | { readonly kind: 'all' | 'any'; readonly parts: readonly ResolvedFilter[] }
  | { readonly kind: 'not'; readonly part: ResolvedFilter }
  | { readonly kind: 'present'; readonly field: LeadTextField }
  | {
      /** Any text of the field is, or has, any of the values. Values are lower-cased. */
      readonly kind: 'text';
      readonly field: LeadTextField;
      readonly how: 'equals' | 'contains' | 'starts_with' | 'ends_with';
      readonly values: readonly string[];
    }
  | { readonly kind: 'number'; readonly field: ComparedNumber; readonly ranges: Ranges<number> }
  /** Points of the lead from one ruleset; 0 where the ruleset gave none. */
  | { readonly kind: 'ruleset'; readonly ruleset_id: string; readonly ranges: Ranges<number> }
  | {
      readonly kind: 'time';
      readonly field: 'first_activity_at' | 'last_activity_at';
      /** Times are ISO 8601 UTC with milliseconds, whose order as texts is that of time. */
      readonly ranges: Ranges<string>;
    };

/** No lead matches. A condition of a field or operator that this version does not know is this. */
const nothing: ResolvedFilter = { kind: 'any', parts: [] };
const everything: ResolvedFilter = { kind: 'all', parts: [] };

export function resolveFilter(group: LeadFilterGroup, moment: FilterMoment): ResolvedFilter {
  return {
    kind: 'all' in group ? 'all' : 'any',
    parts: partsOfGroup(group).map((part) => resolvePart(part, moment)),
  };
}

function resolvePart(part: LeadFilterPart, moment: FilterMoment): ResolvedFilter {
  if (isLeadFilterGroup(part)) return resolveFilter(part, moment);
  const { field } = part;
  if (isOneOf([...leadFieldNames, 'alias'], field)) return resolveText(field, part);
  if (isOneOf(leadLevelFields, field)) return resolveLevel(part, moment, scoreOfLevel[field]);
  if (field === gridField) return resolveCell(part, moment.grid);
  if (isOneOf(leadTimeFields, field)) return resolveTime(field, part, moment.now);
  if (isOneOf(leadNumberFields, field))
    return resolveNumber(part, (ranges) => ({
      kind: 'number',
      field: numberOf[field],
      ranges,
    }));
  if (field === rulesetScoreField && part.ruleset_id !== undefined) {
    const ruleset_id = part.ruleset_id.toLowerCase();
    return resolveNumber(part, (ranges) => ({ kind: 'ruleset', ruleset_id, ranges }));
  }
  return nothing;
}

const scoreOfLevel: Record<LeadLevelField, LevelledScoreType> = {
  level: 'engagement',
  profile_level: 'profile',
};
const numberOf: Record<LeadNumberField, ComparedNumber> = {
  score: 'score',
  'scores.engagement': 'score',
  'scores.profile': 'profile_score',
  event_count: 'event_count',
};

function isOneOf<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name);
}

function resolveText(field: LeadTextField, condition: LeadCondition): ResolvedFilter {
  const present: ResolvedFilter = { kind: 'present', field };
  const values = textsOf(condition);
  const found = (how: Extract<ResolvedFilter, { kind: 'text' }>['how']): ResolvedFilter => ({
    kind: 'text',
    field,
    how,
    values,
  });
  const missing = (part: ResolvedFilter): ResolvedFilter => {
    const negated: ResolvedFilter = { kind: 'not', part };
    return condition.match_missing === true ? negated : { kind: 'all', parts: [present, negated] };
  };
  switch (condition.operator) {
    case 'exists':
      return present;
    case 'not_exists':
      return { kind: 'not', part: present };
    case 'equals':
    case 'in':
      return found('equals');
    case 'not_equals':
    case 'not_in':
      return missing(found('equals'));
    case 'not_contains':
      return missing(found('contains'));
    case 'contains':
    case 'starts_with':
    case 'ends_with':
      return found(condition.operator);
    default:
      return nothing;
  }
}

/** A lead that is in no level lacks one. */
function resolveLevel(
  condition: LeadCondition,
  moment: FilterMoment,
  scoreType: LevelledScoreType,
): ResolvedFilter {
  const levels = levelsOfScore(moment, scoreType);
  const wanted = new Set(textsOf(condition));
  const isNamed = ({ id, name }: Levels[number]) => wanted.has(id) || wanted.has(name.toLowerCase());
  const inAnyOf = (some: Levels): ResolvedFilter => ({
    kind: 'number',
    field: scoreType === 'engagement' ? 'score' : 'profile_score',
    ranges: some.map(({ min_score, max_score }) => ({
      ...(min_score !== null && { from: min_score }),
      ...(max_score !== null && { to: max_score }),
    })),
  });
  const inNone: ResolvedFilter = { kind: 'not', part: inAnyOf(levels) };
  switch (condition.operator) {
    case 'exists':
      return inAnyOf(levels);
    case 'not_exists':
      return inNone;
    case 'equals':
    case 'in':
      return inAnyOf(levels.filter(isNamed));
    case 'not_equals':
    case 'not_in': {
      const inAnother = inAnyOf(levels.filter((level) => !isNamed(level)));
      return condition.match_missing === true ? { kind: 'any', parts: [inAnother, inNone] } : inAnother;
    }
    default:
      return nothing;
  }
}

/** A cell is a range of both scores. Every lead of an OU with a grid has a cell, and none of another. */
function resolveCell(condition: LeadCondition, grid: Grid | undefined): ResolvedFilter {
  const isMissing = condition.operator === 'not_exists' || condition.match_missing === true;
  if (!grid) return isMissing ? everything : nothing;
  const inAnyOf: ResolvedFilter = {
    kind: 'any',
    parts: gridCells
      .filter((cell) => textsOf(condition).includes(cell.toLowerCase()))
      .map((cell) => {
        const { engagement, profile } = rangesOf(grid, cell);
        return {
          kind: 'all',
          parts: [scoreWithin('score', engagement), scoreWithin('profile_score', profile)],
        };
      }),
  };
  switch (condition.operator) {
    case 'exists':
      return everything;
    case 'equals':
    case 'in':
      return inAnyOf;
    case 'not_equals':
    case 'not_in':
      return { kind: 'not', part: inAnyOf };
    default:
      return nothing;
  }
}

function scoreWithin(field: ComparedNumber, { low, high }: GradeRange): ResolvedFilter {
  return { kind: 'number', field, ranges: [{ from: low, to: high }] };
}

function resolveNumber(
  { operator, value }: LeadCondition,
  within: (ranges: Ranges<number>) => ResolvedFilter,
): ResolvedFilter {
  const numbers = [value].flat().filter((one) => typeof one === 'number');
  const equal = within(numbers.map((one) => ({ from: one, to: one })));
  switch (operator) {
    case 'equals':
    case 'in':
      return equal;
    case 'not_equals':
    case 'not_in':
      return { kind: 'not', part: equal };
    default: {
      const range = rangeOf(operator, numbers);
      return range ? within([range]) : nothing;
    }
  }
}

function resolveTime(
  field: (typeof leadTimeFields)[number],
  { operator, value }: LeadCondition,
  now: Date,
): ResolvedFilter {
  const range = rangeOf(
    operator,
    [value].flat().flatMap((one) => momentOf(one, now)),
  );
  if (!range) return nothing;
  // The first event made the lead.
  const stored = field === 'last_activity_at' ? 'last_activity_at' : 'first_activity_at';
  return { kind: 'time', field: stored, ranges: [range] };
}

function rangeOf<Value extends number | string>(
  operator: LeadCondition['operator'],
  [first, second]: readonly Value[],
): FilterRange<Value> | null {
  if (first === undefined) return null;
  switch (operator) {
    case 'gt':
      return { above: first };
    case 'gte':
      return { from: first };
    case 'lt':
      return { below: first };
    case 'lte':
      return { to: first };
    case 'between':
      return second === undefined ? null : { from: first, to: second };
    default:
      return null;
  }
}

const hourMs = 3_600_000;

function momentOf(value: string | number | RelativeTime | null | undefined, now: Date): string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  const hours = 'days_ago' in value ? value.days_ago * 24 : value.hours_ago;
  return [new Date(now.getTime() - hours * hourMs).toISOString()];
}

function textsOf({ value }: LeadCondition): string[] {
  return [value].flat().flatMap((one) => (typeof one === 'string' ? [one.toLowerCase()] : []));
}
