// Attribute filters: conditions of a rule on an event's metadata, their evaluation, and their wording for people.
import { z } from 'zod';
import { fragmentSearch } from './fragment-search.js';
import type { JsonObject, JsonValue } from './json.js';

export const operand = z.union([z.string().max(1_000), z.number(), z.boolean()]);
export const filterField = z
  .string()
  .min(1)
  .max(200)
  .describe('A key of the metadata; dots reach into nested objects.')
  .meta({ example: 'path' });
export const matchMissing = z
  .boolean()
  .optional()
  .describe('Negative operators only: also true when the field is missing.');

/** Operators that look for a fragment of a text, or for any one of a list of fragments. */
export const fragmentOperators = ['contains', 'not_contains', 'starts_with', 'ends_with'] as const;
const single = ['equals', 'not_equals', ...fragmentOperators, 'gt', 'gte', 'lt', 'lte'] as const;
export const filterOperators = [...single, 'in', 'not_in', 'between', 'exists', 'not_exists'] as const;

/** The most fragments in one filter. */
export const maximumFragments = 50;
const fragments = z
  .array(z.string().min(1, 'must not be empty: every text contains it').max(1_000))
  .min(1)
  .max(maximumFragments)
  .describe('Any of them.');

/** The form of a filter, as the end of an error message. */
export const filterRule = `must be {field, operator, value}: a list of values for in and not_in, two for between, none for exists and not_exists, else a text, number or boolean; ${fragmentOperators.join(', ')} also take a list of texts, any of them. Operators: ${filterOperators.join(', ')}`;

/** The kinds of filter that requests send in the same form in which records and answers hold them. */
export const fragmentListFilter = z.strictObject({
  field: filterField,
  operator: z.enum(fragmentOperators),
  value: fragments,
  match_missing: matchMissing,
});
export const listFilter = z.strictObject({
  field: filterField,
  operator: z.enum(['in', 'not_in']),
  value: z.array(operand).min(1).max(100),
  match_missing: matchMissing,
});
export const existenceFilter = z.strictObject({
  field: filterField,
  operator: z.enum(['exists', 'not_exists']),
  value: z.null().optional(),
});

/** `{field, operator, value}` with the operators of API.md; text compares case-insensitively. */
export const attributeFilter = z
  .union(
    [
      z.strictObject({
        field: filterField,
        operator: z.enum(single),
        value: operand,
        match_missing: matchMissing,
      }),
      fragmentListFilter,
      listFilter,
      z.strictObject({
        field: filterField,
        operator: z.literal('between'),
        value: z.tuple([operand, operand]),
      }),
      existenceFilter,
    ],
    {
      error: filterRule,
    },
  )
  .meta({ id: 'AttributeFilter' });
export type AttributeFilter = z.infer<typeof attributeFilter>;
type Operand = z.infer<typeof operand>;

/** Whether an event's metadata satisfies the compiled filters. */
export type MetadataTest = (metadata: JsonObject) => boolean;

/**
 * Compiles filters for repeated evaluation. The metadata must satisfy all of them. A missing field makes every operator
 * false except not_exists; `match_missing` makes the negative operators true instead. An array matches when any element
 * does, and for a negative operator when no element does. Objects and nulls have no value to compare.
 */
export function compileFilters(filters: readonly AttributeFilter[]): MetadataTest {
  const tests = filters.map(compileFilter);
  const [only] = tests;
  if (only && tests.length === 1) return only;
  return (metadata) => {
    for (const test of tests) if (!test(metadata)) return false;
    return true;
  };
}

function compileFilter(filter: AttributeFilter): MetadataTest {
  const find = finderOf(filter.field);
  switch (filter.operator) {
    case 'exists':
      return (metadata) => isPresent(find(metadata));
    case 'not_exists':
      return (metadata) => !isPresent(find(metadata));
    case 'equals':
      return whereSome(find, equalTo(filter.value));
    case 'not_equals':
      return whereNone(find, equalTo(filter.value), filter.match_missing);
    case 'in':
      return whereSome(find, equalToAny(filter.value));
    case 'not_in':
      return whereNone(find, equalToAny(filter.value), filter.match_missing);
    case 'contains':
      return whereSome(find, withFragment(filter.value, fragmentSearch));
    case 'not_contains':
      return whereNone(find, withFragment(filter.value, fragmentSearch), filter.match_missing);
    case 'starts_with':
      return whereSome(
        find,
        withFragment(filter.value, (start) => (whole) => whole.startsWith(start)),
      );
    case 'ends_with':
      return whereSome(
        find,
        withFragment(filter.value, (end) => (whole) => whole.endsWith(end)),
      );
    case 'gt': {
      const order = orderedBy(filter.value);
      return whereSome(find, (value) => order(value) > 0);
    }
    case 'gte': {
      const order = orderedBy(filter.value);
      return whereSome(find, (value) => order(value) >= 0);
    }
    case 'lt': {
      const order = orderedBy(filter.value);
      return whereSome(find, (value) => order(value) < 0);
    }
    case 'lte': {
      const order = orderedBy(filter.value);
      return whereSome(find, (value) => order(value) <= 0);
    }
    case 'between': {
      const [low, high] = [orderedBy(filter.value[0]), orderedBy(filter.value[1])];
      return whereSome(find, (value) => low(value) >= 0 && high(value) <= 0);
    }
  }
}

/** Finds a value in metadata; undefined when there is none. */
export type Finder = (metadata: JsonObject) => JsonValue | undefined;
type Comparison = (value: Operand) => boolean;

function whereSome(find: Finder, holds: Comparison): MetadataTest {
  return (metadata) => {
    const found = find(metadata);
    return isPresent(found) && some(found, holds);
  };
}

function whereNone(find: Finder, holds: Comparison, matchMissing: boolean | undefined): MetadataTest {
  return (metadata) => {
    const found = find(metadata);
    return isPresent(found) ? !some(found, holds) : matchMissing === true;
  };
}

/** Equal to any of the operands, at the cost of one comparison. */
function equalToAny(operands: readonly Operand[]): Comparison {
  const numbers = new Set(operands.map(comparableNumber));
  const texts = new Set(operands.map(comparableText));
  return (value) => {
    const found = comparableNumber(value);
    return found === null ? texts.has(comparableText(value)) : numbers.has(found);
  };
}

/** Tests the text of a value for one fragment, or for any one of a list of fragments. */
function withFragment(
  operand: Operand | readonly Operand[],
  searchOf: (fragment: string) => (whole: string) => boolean,
): Comparison {
  const searches = [operand].flat().map((fragment) => searchOf(comparableText(fragment)));
  const [only] = searches;
  if (only && searches.length === 1) return (value) => only(comparableText(value));
  return (value) => {
    const whole = comparableText(value);
    return searches.some((holds) => holds(whole));
  };
}

/**
 * The filters as a sentence: `path contains "/privacy" or "/terms" and country is one of "DE", "AT"`. Undefined when
 * there are no filters.
 */
export function filterLabel(filters: readonly AttributeFilter[]): string | undefined {
  return filters.length === 0 ? undefined : filters.map(sentence).join(' and ');
}

/** The operators as a person says them. */
export const filterWords: Record<AttributeFilter['operator'], string> = {
  equals: 'is',
  not_equals: 'is not',
  contains: 'contains',
  not_contains: 'does not contain',
  starts_with: 'starts with',
  ends_with: 'ends with',
  in: 'is one of',
  not_in: 'is none of',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  between: 'is between',
  exists: 'is present',
  not_exists: 'is missing',
};

function sentence(filter: AttributeFilter): string {
  const start = `${filter.field} ${filterWords[filter.operator]}`;
  switch (filter.operator) {
    case 'exists':
    case 'not_exists':
      return start;
    case 'in':
    case 'not_in':
      return `${start} ${filter.value.map(quoteOperand).join(', ')}`;
    case 'between':
      return `${start} ${quoteOperand(filter.value[0])} and ${quoteOperand(filter.value[1])}`;
    default:
      return `${start} ${Array.isArray(filter.value) ? filter.value.map(quoteOperand).join(' or ') : quoteOperand(filter.value)}`;
  }
}

/** An operand in a sentence. */
export function quoteOperand(value: Operand): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}

/**
 * Finds the value of a field. A key that equals the whole dotted name takes precedence over the path that the dots
 * spell. A path through an array gives the array of the values found in its elements. The prefix `metadata.` is
 * optional.
 */
export function finderOf(path: string): Finder {
  if (!path.includes('.')) return ownValueOf(path);
  const steps = path.split('.');
  const withoutPrefix = steps[0] === 'metadata' ? steps.slice(1) : steps;
  return (metadata) => {
    if (Object.hasOwn(metadata, path)) return metadata[path];
    return valueBelow(metadata, Object.hasOwn(metadata, 'metadata') ? steps : withoutPrefix, 0);
  };
}

/** Only a name that every object inherits, such as `constructor`, has to be looked for among the object's own keys. */
function ownValueOf(key: string): Finder {
  if (key in Object.prototype)
    return (metadata) => (Object.hasOwn(metadata, key) ? metadata[key] : undefined);
  return (metadata) => metadata[key];
}

function isPresent(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

function valueBelow(
  value: JsonValue | undefined,
  steps: readonly string[],
  at: number,
): JsonValue | undefined {
  const step = steps[at];
  if (step === undefined) return value;
  if (value === null || typeof value !== 'object') return undefined;
  if (!Array.isArray(value))
    return Object.hasOwn(value, step) ? valueBelow(value[step], steps, at + 1) : undefined;
  const found = value
    .map((element) => valueBelow(element, steps, at))
    .filter((element) => element !== undefined);
  return found.length === 0 ? undefined : found;
}

function some(value: JsonValue, holds: Comparison): boolean {
  if (Array.isArray(value)) return value.some((element) => some(element, holds));
  return value !== null && typeof value !== 'object' && holds(value);
}

// Many rules read the same field of one event, so the last lower-cased text is cached.
let lastText = '';
let lastLowered = '';

export function comparableText(value: Operand): string {
  if (typeof value !== 'string') return String(value).toLowerCase();
  if (value !== lastText) {
    lastText = value;
    lastLowered = value.toLowerCase();
  }
  return lastLowered;
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** A longer text is never read as a number, even when it consists of digits. */
const maximumDigits = 400;

export function comparableNumber(value: Operand): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.length > maximumDigits) return null;
  const trimmed = value.trim();
  return decimal.test(trimmed) ? Number(trimmed) : null;
}

function equalTo(operand: Operand): Comparison {
  const number = comparableNumber(operand);
  const lowered = comparableText(operand);
  if (number === null) return (value) => comparableText(value) === lowered;
  return (value) => {
    const found = comparableNumber(value);
    return found === null ? comparableText(value) === lowered : found === number;
  };
}

/** Compares two operands: negative, 0 or positive, like the compare function of `Array.sort`. */
export function compareOperands(one: Operand, other: Operand): number {
  return orderedBy(other)(one);
}

/** Compares values with the operand: negative, 0 or positive as the value is less, equal or greater. */
function orderedBy(operand: Operand): (value: Operand) => number {
  const number = comparableNumber(operand);
  const lowered = comparableText(operand);
  return (value) => {
    const found = number === null ? null : comparableNumber(value);
    if (found !== null && number !== null) return found - number;
    const own = comparableText(value);
    return own < lowered ? -1 : own > lowered ? 1 : 0;
  };
}
