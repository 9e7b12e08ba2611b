// Validation errors tell what to change: the most useful error first, each once, as a sentence, on every declared
// route.
import { describe, expect, test } from '@jest/globals';
import { routes, type RouteDeclaration } from '@lead-scoring/contracts';
import { valuesHolding } from '@lead-scoring/contracts/schema-walk';
import { longestLinearMs, processorTimeOf, worstTexts } from '@lead-scoring/contracts/worst-texts';
import type { z } from 'zod';
import { ProblemError, type FieldError } from './problems.js';
import { parseOrProblem, type Part } from './validation.js';

function problemOf(schema: z.ZodType, value: unknown, part: Part = 'body') {
  try {
    parseOrProblem(schema, value, part);
  } catch (error) {
    if (error instanceof ProblemError) return { detail: error.detail, errors: [...(error.errors ?? [])] };
    throw error;
  }
  return { detail: '', errors: [] as FieldError[] };
}
const told = (schema: z.ZodType, value: unknown) =>
  problemOf(schema, value).errors.map(({ path, message }) => `${path} ${message}`);

const rule = routes.createEngagementRule.body;
const good = { event_type: 'Page View', weight: 10 };
const filter = (one: unknown) => ({ ...good, attribute_filters: [one] });

test('a wrong operator is told all operators', () => {
  expect(told(rule, filter({ field: 'path', operator: 'like', value: 'x' }))).toEqual([
    'body.attribute_filters[0].operator must be one of equals, not_equals, contains, not_contains, starts_with, ends_with, gt, gte, lt, lte, in, not_in, between, exists, not_exists',
  ]);
  expect(told(rule, filter({ field: 'path', value: 'x' }))).toEqual([
    'body.attribute_filters[0].operator is required',
  ]);
});

test.each<[unknown, string]>([
  [{ field: 'a', operator: 'in', value: 'x' }, 'value must be an array'],
  [{ field: 'a', operator: 'contains', value: [] }, 'value must hold at least 1 element'],
  [{ field: 'a', operator: 'contains', value: {} }, 'value must be a text, a number, or true or false'],
  [
    { field: 'a', operator: 'gt', value: 'many' },
    'value must be a number, or a date such as 2026-01-31 or 2026-01-31T09:30:00Z: other texts have no order',
  ],
  [
    { field: 'a', operator: 'between', value: [9, 3] },
    'value must have the lowest value first: nothing lies between them',
  ],
  [{ field: '', operator: 'exists' }, 'field must not be empty'],
  [{ field: 'a', operator: 'exists', val: 1 }, 'val is not a known field; did you mean value?'],
])('of a filter %j what was meant is told', (one, message) => {
  expect(told(rule, filter(one))).toEqual([`body.attribute_filters[0].${message}`]);
});

test('a number out of range is told the range', () => {
  for (const weight of [10_001, -10_001, 1.5, 1e20, 'ten'])
    expect(told(rule, { ...good, weight })).toEqual([
      'body.weight must be a whole number from -10000 to 10000',
    ]);
  expect(problemOf(routes.listLeads.query, { limit: '101' }, 'query').detail).toBe(
    'query.limit must be a whole number from 1 to 100.',
  );
});

test('an unknown field near a known one is asked about', () => {
  expect(told(rule, { ...good, attributeFilters: [] })).toEqual([
    'body.attributeFilters is not a known field; did you mean attribute_filters?',
  ]);
  expect(told(rule, { ...good, filters: [] })).toEqual([
    'body.filters is not a known field; did you mean attribute_filters?',
  ]);
  expect(told(rule, { ...good, colour: 'red' })).toEqual(['body.colour is not a known field; leave it out']);
});

test('what is missing comes before what is wrong, and that before what is not known', () => {
  expect(told(rule, { colour: 1, weight: 0.5 })).toEqual([
    'body.event_type is required',
    'body.weight must be a whole number from -10000 to 10000',
    'body.colour is not a known field; leave it out',
  ]);
});

test('of two fields that take each other’s place, the sentence is one', () => {
  expect(problemOf(routes.createTrigger.body, { name: 'Hot' }).detail).toBe(
    'body.score_threshold must be given, or level in its place: one of the two and not both.',
  );
  expect(problemOf(routes.createSequence.body, { name: 'Both', window_seconds: 60 }).detail).toBe(
    'body.steps must be given, or event_types in its place: one of the two and not both.',
  );
});

const declared: readonly RouteDeclaration[] = Object.values(routes);
const parts = declared.flatMap((route) =>
  (['parameters', 'query', 'body'] as const).flatMap((part) => {
    const schema = route[part];
    return schema ? [{ name: `${route.name} ${part}`, part, schema }] : [];
  }),
);
const sentence = /^(?:must|is|are|takes|holds|has|may)\b/;

describe.each(parts)('$name', ({ part, schema }) => {
  test('says each thing once, in a sentence that goes on from the path', () => {
    for (const wrong of [
      '',
      'x',
      '!',
      '\u0000',
      '9'.repeat(30),
      null,
      1e20,
      -1e20,
      0.5,
      true,
      [],
      {},
      [{}],
      { x: 1 },
    ])
      for (const [, value] of valuesHolding(schema, wrong)) {
        const { detail, errors } = problemOf(schema, value, part);
        const all = errors.map(({ path, message }) => `${path} ${message}`);
        expect(all).toEqual([...new Set(all)]);
        for (const { path, message } of errors) {
          expect([path, message]).toEqual([path, expect.stringMatching(sentence)]);
          expect([path, message]).toEqual([
            path,
            expect.not.stringMatching(/\b1 (?:characters|elements)\b|Invalid|expected/),
          ]);
        }
        if (errors.length > 0) expect(detail).toContain(errors[0]?.message);
      }
  });

  test('says it in linear time', () => {
    for (const worst of Object.values(worstTexts(100_000)))
      for (const [at, value] of valuesHolding(schema, worst)) {
        const took = processorTimeOf(() => problemOf(schema, value, part));
        if (took > longestLinearMs) throw new Error(`${at}: ${String(took)} ms`);
      }
  });
});
