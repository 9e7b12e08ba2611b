// Attribute filters: what a rule may ask of an event's metadata, how it is answered, and how a person would say it.
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

/** Operators that look for a fragment of a text, or for any fragment of a list. */
export const fragmentOperators = ['contains', 'not_contains', 'starts_with', 'ends_with'] as const;
const single = ['equals', 'not_equals', ...fragmentOperators, 'gt', 'gte', 'lt', 'lte'] as const;
export const filterOperators = [...single, 'in', 'not_in', 'between', 'exists', 'not_exists'] as const;

/** The most fragments in one filter. */
export const maximumFragments = 50;
export const fragments = z
  .array(z.string().min(1, 'must not be empty: every text contains it').max(1_000))
  .min(1)
  .max(maximumFragments)
  .describe('Any of them.');

/** What a filter must be, as a sentence for the sender. */
export const filterRule = `must be {field, operator, value}: a list of values for in and not_in, two for between, none for exists and not_exists, else a text, number or boolean; ${fragmentOperators.join(', ')} also take a list of texts, any of them. Operators: ${filterOperators.join(', ')}`;

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
      z.strictObject({
        field: filterField,
        operator: z.enum(fragmentOperators),
        value: fragments,
        match_missing: matchMissing,
      }),
      z.strictObject({
        field: filterField,
        operator: z.enum(['in', 'not_in']),
        value: z.array(operand).min(1).max(100),
        match_missing: matchMissing,
      }),
      z.strictObject({
        field: filterField,
        operator: z.literal('between'),
        value: z.tuple([operand, operand]),
      }),
      z.strictObject({
        field: filterField,
        operator: z.enum(['exists', 'not_exists']),
        value: z.null().optional(),
      }),
    ],
    {
      error: filterRule,
    },
  )
  .meta({ id: 'AttributeFilter' });
export type AttributeFilter = z.infer<typeof attributeFilter>;
type Operand = z.infer<typeof operand>;

/** Whether an event's metadata satisfies what was compiled. */
export type MetadataTest = (metadata: JsonObject) => boolean;

/**
 * Makes filters ready for asking often: what follows from a filter alone is computed once. All must hold.
 * A missing field makes every operator false except not_exists; `match_missing` turns the negatives round. Arrays match
 * when any element does (for a negative: when none does). Objects and nulls have no value to compare.
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

type Finder = (metadata: JsonObject) => JsonValue | undefined;
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

/** As `equalTo` of any of them, at the cost of one. */
function equalToAny(operands: readonly Operand[]): Comparison {
  const numbers = new Set(operands.map(numeric));
  const texts = new Set(operands.map(text));
  return (value) => {
    const found = numeric(value);
    return found === null ? texts.has(text(value)) : numbers.has(found);
  };
}

/** A comparison with the text of a value: it holds when it holds for the fragment, or for any fragment of a list. */
function withFragment(
  operand: Operand | readonly Operand[],
  searchOf: (fragment: string) => (whole: string) => boolean,
): Comparison {
  const searches = [operand].flat().map((fragment) => searchOf(text(fragment)));
  const [only] = searches;
  if (only && searches.length === 1) return (value) => only(text(value));
  return (value) => {
    const whole = text(value);
    return searches.some((holds) => holds(whole));
  };
}

/**
 * The sentence a person would say: `path contains "/privacy" or "/terms" and country is one of "DE", "AT"`; undefined
 * without filters.
 */
export function filterLabel(filters: readonly AttributeFilter[]): string | undefined {
  return filters.length === 0 ? undefined : filters.map(sentence).join(' and ');
}

const words: Record<AttributeFilter['operator'], string> = {
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
  const start = `${filter.field} ${words[filter.operator]}`;
  switch (filter.operator) {
    case 'exists':
    case 'not_exists':
      return start;
    case 'in':
    case 'not_in':
      return `${start} ${filter.value.map(quoted).join(', ')}`;
    case 'between':
      return `${start} ${quoted(filter.value[0])} and ${quoted(filter.value[1])}`;
    default:
      return `${start} ${Array.isArray(filter.value) ? filter.value.map(quoted).join(' or ') : quoted(filter.value)}`;
  }
}

function quoted(value: Operand): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}

/**
 * Finds the value that a field names. A key that holds the whole dotted name wins over the path that the dots spell; a
 * path through an array gives the array of what its elements hold there. `metadata.` in front may be left out.
 */
function finderOf(path: string): Finder {
  if (!path.includes('.')) return (metadata) => (Object.hasOwn(metadata, path) ? metadata[path] : undefined);
  const steps = path.split('.');
  const withoutPrefix = steps[0] === 'metadata' ? steps.slice(1) : steps;
  return (metadata) => {
    if (Object.hasOwn(metadata, path)) return metadata[path];
    return valueBelow(metadata, Object.hasOwn(metadata, 'metadata') ? steps : withoutPrefix, 0);
  };
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

// Many rules ask for the same field of one event: the text that was asked for last is kept.
let lastText = '';
let lastLowered = '';

function text(value: Operand): string {
  if (typeof value !== 'string') return String(value).toLowerCase();
  if (value !== lastText) {
    lastText = value;
    lastLowered = value.toLowerCase();
  }
  return lastLowered;
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
/** Characters of a text that is read as a number; one that is longer is a text, whatever it is made of. */
const maximumDigits = 400;

function numeric(value: Operand): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.length > maximumDigits) return null;
  const trimmed = value.trim();
  return decimal.test(trimmed) ? Number(trimmed) : null;
}

function equalTo(operand: Operand): Comparison {
  const number = numeric(operand);
  const lowered = text(operand);
  if (number === null) return (value) => text(value) === lowered;
  return (value) => {
    const found = numeric(value);
    return found === null ? text(value) === lowered : found === number;
  };
}

/** Below, at or above 0 as one value is less than, equal to or more than another. */
export function compareOperands(one: Operand, other: Operand): number {
  return orderedBy(other)(one);
}

/** Below, at or above 0 as a value is less than, equal to or more than the operand. */
function orderedBy(operand: Operand): (value: Operand) => number {
  const number = numeric(operand);
  const lowered = text(operand);
  return (value) => {
    const found = number === null ? null : numeric(value);
    if (found !== null && number !== null) return found - number;
    const own = text(value);
    return own < lowered ? -1 : own > lowered ? 1 : 0;
  };
}
