// Attribute filters: what a rule may ask of an event's metadata, how it is answered, and how a person would say it.
import { z } from 'zod';
import type { JsonObject, JsonValue } from './json.js';

const operand = z.union([z.string().max(1_000), z.number(), z.boolean()]);
const field = z
  .string()
  .min(1)
  .max(200)
  .describe('A key of the metadata; dots reach into nested objects.')
  .meta({ example: 'path' });
const matchMissing = z
  .boolean()
  .optional()
  .describe('Negative operators only: also true when the field is missing.');

const single = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'starts_with',
  'ends_with',
  'gt',
  'gte',
  'lt',
  'lte',
] as const;

/** `{field, operator, value}` with the operators of API.md; text compares case-insensitively. */
export const attributeFilter = z
  .union(
    [
      z.strictObject({ field, operator: z.enum(single), value: operand, match_missing: matchMissing }),
      z.strictObject({
        field,
        operator: z.enum(['in', 'not_in']),
        value: z.array(operand).min(1).max(100),
        match_missing: matchMissing,
      }),
      z.strictObject({ field, operator: z.literal('between'), value: z.tuple([operand, operand]) }),
      z.strictObject({ field, operator: z.enum(['exists', 'not_exists']), value: z.null().optional() }),
    ],
    {
      error:
        'must be {field, operator, value}: a list of values for in and not_in, two for between, none for exists and not_exists, else a text, number or boolean. Operators: ' +
        [...single, 'in', 'not_in', 'between', 'exists', 'not_exists'].join(', '),
    },
  )
  .meta({ id: 'AttributeFilter' });
export type AttributeFilter = z.infer<typeof attributeFilter>;
type Operand = z.infer<typeof operand>;

/** Whether the metadata satisfies every filter. */
export function matchesAll(filters: readonly AttributeFilter[], metadata: JsonObject): boolean {
  for (const filter of filters) if (!matches(filter, metadata)) return false;
  return true;
}

/**
 * Whether the metadata satisfies the filter. A missing field makes every operator false except not_exists;
 * `match_missing` turns the negatives round. Arrays match when any element does (for a negative: when none does).
 * Objects and nulls have no value to compare.
 */
export function matches(filter: AttributeFilter, metadata: JsonObject): boolean {
  const found = valueAt(metadata, filter.field);
  const missing = found === undefined || found === null;
  switch (filter.operator) {
    case 'exists':
      return !missing;
    case 'not_exists':
      return missing;
    case 'equals':
      return !missing && some(found, (value) => equals(value, filter.value));
    case 'not_equals':
      return missing ? filter.match_missing === true : !some(found, (value) => equals(value, filter.value));
    case 'in':
      return !missing && some(found, (value) => filter.value.some((option) => equals(value, option)));
    case 'not_in':
      return missing
        ? filter.match_missing === true
        : !some(found, (value) => filter.value.some((option) => equals(value, option)));
    case 'contains':
      return !missing && some(found, (value) => text(value).includes(text(filter.value)));
    case 'not_contains':
      return missing
        ? filter.match_missing === true
        : !some(found, (value) => text(value).includes(text(filter.value)));
    case 'starts_with':
      return !missing && some(found, (value) => text(value).startsWith(text(filter.value)));
    case 'ends_with':
      return !missing && some(found, (value) => text(value).endsWith(text(filter.value)));
    case 'gt':
      return !missing && some(found, (value) => order(value, filter.value) > 0);
    case 'gte':
      return !missing && some(found, (value) => order(value, filter.value) >= 0);
    case 'lt':
      return !missing && some(found, (value) => order(value, filter.value) < 0);
    case 'lte':
      return !missing && some(found, (value) => order(value, filter.value) <= 0);
    case 'between': {
      const [low, high] = filter.value;
      return !missing && some(found, (value) => order(value, low) >= 0 && order(value, high) <= 0);
    }
  }
}

/** The sentence a person would say: `path contains "/pricing" and country is one of "DE", "AT"`; undefined without filters. */
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
      return `${start} ${quoted(filter.value)}`;
  }
}

function quoted(value: Operand): string {
  return typeof value === 'string' ? `"${value}"` : String(value);
}

/**
 * The value that a field names. A key that holds the whole dotted name wins over the path that the dots spell; a path
 * through an array gives the array of what its elements hold there. `metadata.` in front may be left out.
 */
function valueAt(metadata: JsonObject, path: string): JsonValue | undefined {
  if (Object.hasOwn(metadata, path)) return metadata[path];
  if (!path.includes('.')) return undefined;
  const steps = path.split('.');
  if (steps[0] === 'metadata' && !Object.hasOwn(metadata, 'metadata')) steps.shift();
  return valueBelow(metadata, steps, 0);
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

function some(value: JsonValue, holds: (value: Operand) => boolean): boolean {
  if (Array.isArray(value)) return value.some((element) => some(element, holds));
  return value !== null && typeof value !== 'object' && holds(value);
}

function text(value: Operand): string {
  return (typeof value === 'string' ? value : String(value)).toLowerCase();
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

function numeric(value: Operand): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  const trimmed = value.trim();
  return decimal.test(trimmed) ? Number(trimmed) : null;
}

function equals(value: Operand, operand: Operand): boolean {
  const a = numeric(value);
  const b = a === null ? null : numeric(operand);
  return a !== null && b !== null ? a === b : text(value) === text(operand);
}

/** Below, at or above 0 as the value is less than, equal to or more than the operand. */
function order(value: Operand, operand: Operand): number {
  const a = numeric(value);
  const b = a === null ? null : numeric(operand);
  if (a !== null && b !== null) return a - b;
  const [left, right] = [text(value), text(operand)];
  return left < right ? -1 : left > right ? 1 : 0;
}
