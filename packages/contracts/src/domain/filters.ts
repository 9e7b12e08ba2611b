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
 */
export function matches(filter: AttributeFilter, metadata: JsonObject): boolean {
  const value = valueAt(metadata, filter.field);
  const missing = value === undefined || value === null;
  switch (filter.operator) {
    case 'exists':
      return !missing;
    case 'not_exists':
      return missing;
    case 'not_equals':
    case 'not_contains':
    case 'not_in':
      if (missing) return filter.match_missing === true;
      break;
    default:
      if (missing) return false;
  }
  const elements = Array.isArray(value) ? value : [value];
  switch (filter.operator) {
    case 'equals':
      return elements.some((element) => equals(element, filter.value));
    case 'not_equals':
      return !elements.some((element) => equals(element, filter.value));
    case 'in':
      return elements.some((element) => filter.value.some((option) => equals(element, option)));
    case 'not_in':
      return !elements.some((element) => filter.value.some((option) => equals(element, option)));
    case 'contains':
      return elements.some((element) => text(element).includes(text(filter.value)));
    case 'not_contains':
      return !elements.some((element) => text(element).includes(text(filter.value)));
    case 'starts_with':
      return elements.some((element) => text(element).startsWith(text(filter.value)));
    case 'ends_with':
      return elements.some((element) => text(element).endsWith(text(filter.value)));
    case 'gt':
      return elements.some((element) => ordered(element, filter.value, (order) => order > 0));
    case 'gte':
      return elements.some((element) => ordered(element, filter.value, (order) => order >= 0));
    case 'lt':
      return elements.some((element) => ordered(element, filter.value, (order) => order < 0));
    case 'lte':
      return elements.some((element) => ordered(element, filter.value, (order) => order <= 0));
    case 'between': {
      const [low, high] = filter.value;
      return elements.some(
        (element) =>
          ordered(element, low, (order) => order >= 0) && ordered(element, high, (order) => order <= 0),
      );
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

/** A key that holds the whole dotted name wins over the path that the dots spell. */
function valueAt(metadata: JsonObject, path: string): JsonValue | undefined {
  if (Object.hasOwn(metadata, path)) return metadata[path];
  let value: JsonValue | undefined = metadata;
  for (const step of (path.startsWith('metadata.') ? path.slice('metadata.'.length) : path).split('.')) {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || !Object.hasOwn(value, step))
      return undefined;
    value = value[step];
  }
  return value;
}

function text(value: JsonValue | undefined): string {
  return (typeof value === 'string' ? value : JSON.stringify(value ?? null)).toLowerCase();
}

function numeric(value: JsonValue | undefined): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const parsed = Number(value);
  return Number.isFinite(parsed) ? parsed : null;
}

function equals(value: JsonValue | undefined, operand: Operand): boolean {
  const [a, b] = [numeric(value), numeric(operand)];
  return a !== null && b !== null ? a === b : text(value) === text(operand);
}

function ordered(value: JsonValue | undefined, operand: Operand, holds: (order: number) => boolean): boolean {
  const [a, b] = [numeric(value), numeric(operand)];
  if (a !== null && b !== null) return holds(a - b);
  if (value === undefined || value === null || typeof value === 'object') return false;
  const [left, right] = [text(value), text(operand)];
  return holds(left < right ? -1 : left > right ? 1 : 0);
}
