import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ProblemError } from './problems.js';
import { parseOrProblem } from './validation.js';

const rule = z.strictObject({
  name: z.string().trim().min(1, 'must not be empty').max(5),
  weight: z.int().min(-10).max(10),
  kind: z.enum(['engagement', 'profile']).optional(),
  tags: z.array(z.string()).max(2).optional(),
  active: z.boolean().optional(),
});
const filter = z.discriminatedUnion('operator', [
  z.strictObject({ operator: z.literal('in'), value: z.array(z.string()).min(1) }),
  z.strictObject({ operator: z.literal('equals'), value: z.string() }),
]);
const oneOrMany = z.union([rule, z.array(rule).min(1)]);

function problemsOf(schema: z.ZodType, value: unknown) {
  try {
    parseOrProblem(schema, value, 'body');
  } catch (error) {
    if (error instanceof ProblemError) {
      expect(error).toMatchObject({ status: 400, code: 'invalid_request' });
      return Object.fromEntries((error.errors ?? []).map(({ path, message }) => [path, message]));
    }
    throw error;
  }
  return {};
}

describe('validation', () => {
  test('lists every problem with its path, in words that say what to change', () => {
    expect(
      problemsOf(rule, { name: ' ', weight: 1.5, kind: 'x', tags: ['a', 'b', 'c'], active: 'yes', extra: 1 }),
    ).toEqual({
      'body.name': 'must not be empty',
      'body.weight': 'must be a whole number',
      'body.kind': 'must be one of engagement, profile',
      'body.tags': 'must hold at most 2 elements',
      'body.active': 'must be true or false',
      'body.extra': 'is not a known field; leave it out',
    });
    expect(problemsOf(rule, { name: 'toolong' })).toEqual({
      'body.name': 'must be at most 5 characters',
      'body.weight': 'is required',
    });
    expect(problemsOf(rule, { name: 'a', weight: 99 })).toEqual({ 'body.weight': 'must be at most 10' });
    expect(problemsOf(rule, [])).toEqual({ body: 'must be an object' });
    expect(problemsOf(rule, undefined)).toEqual({ body: 'must be an object' });
  });

  test('in a union the alternative that was meant is complained about', () => {
    expect(problemsOf(oneOrMany, [{ name: 'a', weight: 1 }, { name: 'b' }])).toEqual({
      'body[1].weight': 'is required',
    });
    expect(problemsOf(oneOrMany, { name: 'a' })).toEqual({ 'body.weight': 'is required' });
    expect(problemsOf(filter, { operator: 'in', value: [] })).toEqual({
      'body.value': 'must hold at least 1 element',
    });
    expect(Object.keys(problemsOf(filter, { operator: 'like', value: 'x' }))).toEqual(['body.operator']);
    expect(problemsOf(z.strictObject({ filter }), {})).toEqual({ 'body.filter': 'is required' });
  });

  test('operators, prototypes and arrays in place of a text are refused', () => {
    for (const hostile of [
      { $ne: null },
      { $gt: '' },
      ['a'],
      null,
      1,
      JSON.parse('{"__proto__":{"x":1}}'),
    ] as unknown[])
      expect(problemsOf(rule, { name: hostile, weight: 1 })).toEqual({ 'body.name': 'must be a text' });
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('a valid value comes back as the schema makes it', () => {
    expect(parseOrProblem(rule, { name: ' a ', weight: 1 }, 'body')).toEqual({ name: 'a', weight: 1 });
  });
});
