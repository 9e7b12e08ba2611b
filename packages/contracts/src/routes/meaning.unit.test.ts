// Meaningless values are refused, and the message says what to change: on every route that takes such a value. The test
// finds the routes by walking the declarations.
import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { attributeFilterForms } from '../vocabulary/filter-forms.js';
import { documentFilterForm, leadFilterForm } from '../vocabulary/lead-filter-forms.js';
import { sampleOfSchema, schemasWithin } from '../testing/schema-walk.js';
import { routes } from './index.js';
import type { RouteDeclaration } from './route.js';

const declared: readonly RouteDeclaration[] = Object.values(routes);
const sent = declared.flatMap((route) =>
  (['query', 'body'] as const).flatMap((part) => {
    const schema = route[part];
    return schema
      ? schemasWithin(schema).map(([at, inner]) => ({ at: `${route.name} ${part} ${at}`, inner }))
      : [];
  }),
);
const objects = sent.flatMap(({ at, inner }) => {
  const { def } = (inner as z.core.$ZodTypes)._zod;
  return def.type === 'object' ? [{ at, schema: inner as z.ZodObject, keys: Object.keys(def.shape) }] : [];
});

/** The errors of the schema for these fields, when the sample has these values. */
function complaints(schema: z.ZodType, values: Record<string, unknown>): [string, string][] {
  const whole = { ...(sampleOfSchema(schema) as object), ...values };
  const concerned = new Set(Object.keys(values));
  const { error } = schema.safeParse(whole);
  return (error?.issues ?? [])
    .filter(({ path }) => concerned.has(String(path[0])))
    .map(({ path, message }) => [String(path[0]), message]);
}

/** The limits of a ruleset are at most and at least 0, so that neither can be beyond the other. */
const ruleset = /(create|update)Ruleset body|putConfiguration body (engagement|profile|deal)_rulesets\.\[\]$/;
const early = '2020-01-01T00:00:00Z';
const late = '2020-01-02T00:00:00Z';

describe.each([
  { low: 'from', high: 'to', word: 'before', lower: early, upper: late },
  { low: 'starts_at', high: 'ends_at', word: 'before', lower: early, upper: late },
  { low: 'min_score', high: 'max_score', word: 'less than', lower: 1, upper: 2 },
])('$high $word $low', ({ low, high, word, lower, upper }) => {
  const taking = objects.filter(
    ({ at, keys }) => keys.includes(low) && keys.includes(high) && !ruleset.test(at),
  );
  const form = (at: string, value: string | number) => (at.includes(' query ') ? String(value) : value);

  test('is taken by some route', () => {
    expect(taking.length).toBeGreaterThan(0);
  });
  test.each(taking)('is refused by $at', ({ at, schema }) => {
    const [one, other] = [form(at, lower), form(at, upper)];
    expect(complaints(schema, { [low]: one, [high]: other })).toEqual([]);
    expect(complaints(schema, { [low]: one, [high]: one })).toEqual([]);
    expect(complaints(schema, { [low]: other, [high]: one })).toEqual([
      [high, `must not be ${word} ${low}: nothing lies between them`],
    ]);
  });
});

describe('a moment that is still to come', () => {
  const taking = objects.flatMap(({ at, schema, keys }) =>
    ['at', 'known_at', 'since'].filter((key) => keys.includes(key)).map((key) => ({ at, schema, key })),
  );
  test.each(taking)('is refused by $at as $key', ({ schema, key }) => {
    expect(complaints(schema, { [key]: early })).toEqual([]);
    const soon = new Date(Date.now() + 30_000).toISOString();
    expect(complaints(schema, { [key]: soon })).toEqual([]);
    const later = new Date(Date.now() + 3_600_000).toISOString();
    expect(complaints(schema, { [key]: later })).toEqual([[key, 'must not be in the future']]);
  });
});

describe('a filter', () => {
  const filters = sent.filter(({ inner }) => {
    const { def } = (inner as z.core.$ZodTypes)._zod;
    return def.type === 'object' && 'operator' in def.shape && 'field' in def.shape;
  });

  test('is of the strict form wherever it is sent', () => {
    const forms = new Set(
      [attributeFilterForms, leadFilterForm, documentFilterForm]
        .flatMap((form) => schemasWithin(form))
        .map(([, one]) => one),
    );
    expect(filters.length).toBeGreaterThan(0);
    expect(filters.filter(({ inner }) => !forms.has(inner)).map(({ at }) => at)).toEqual([]);
  });

  const messagesOf = (operator: string, value: unknown) => {
    const { error } = attributeFilterForms.safeParse([{ field: 'amount', operator, value }]);
    return JSON.stringify(error?.issues ?? null);
  };

  test.each<[string, unknown, string]>([
    ['gt', 'many', 'must be a number, or a date'],
    ['gte', '', 'must be a number, or a date'],
    ['lt', true, 'must be a number, or a date'],
    ['lte', '31.12.2026', 'must be a number, or a date'],
    ['gt', '1'.repeat(100), 'must be a number, or a date'],
    ['between', ['a', 'b'], 'must be a number, or a date'],
    ['between', [9, 3], 'must have the lowest value first'],
    ['between', ['10', '9'], 'must have the lowest value first'],
    ['between', ['2026-02-01', '2026-01-31'], 'must have the lowest value first'],
    ['between', [1, '2026-01-31'], 'must be two numbers or two dates'],
    ['between', [1], 'must be a list of two'],
  ])('%s %j is refused', (operator, value, message) => {
    expect(messagesOf(operator, value)).toContain(message);
  });

  test.each<[string, unknown]>([
    ['gt', 5],
    ['gte', '5'],
    ['lt', '-.5e3'],
    ['lte', '2026-01'],
    ['gt', '2026-01-31'],
    ['gt', ' 2026-01-31T09:30:00.000Z'],
    ['lt', '2026-01-31T09:30+02:00'],
    ['between', [3, 9]],
    ['between', ['9', '10']],
    ['between', [3, 3]],
    ['between', ['2026-01-31', '2026-02-01T00:00:00Z']],
    ['equals', 'many'],
    ['contains', ['a', 'b']],
    ['exists', undefined],
  ])('%s %j is taken', (operator, value) => {
    expect(messagesOf(operator, value)).toBe('null');
  });
});

test('a number that is sent is told its range, whichever bound it misses', () => {
  const wrong = sent.flatMap(({ at, inner }) => {
    const { minValue: minimum, maxValue: maximum } = inner as z.ZodNumber;
    if ((inner as z.ZodType).type !== 'number' || minimum === null || maximum === null) return [];
    if (!Number.isFinite(minimum) || !Number.isFinite(maximum)) return [];
    return [minimum - 1, maximum + 1, 0.123, 1e20, 'x'].flatMap((value) => {
      const messages =
        (inner as z.ZodType).safeParse(value).error?.issues.map(({ message }) => message) ?? [];
      return messages
        .filter((message) => !message.includes(`from ${String(minimum)} to ${String(maximum)}`))
        .map((message) => `${at}: ${message}`);
    });
  });
  expect(wrong).toEqual([]);
});
