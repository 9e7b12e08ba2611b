// Validating a request takes time linear in its length: every declared text of every route, command and event is
// checked for its length before a pattern runs on it.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { recordDeclarations } from '../records/index.js';
import { timeOfPattern } from '../testing/linear-time.js';
import { schemasWithin, valuesHolding } from '../testing/schema-walk.js';
import { longestLinearMs, processorTimeOf, worstTexts } from '../testing/worst-texts.js';
import { routes } from './index.js';
import type { RouteDeclaration } from './route.js';

const declared: readonly RouteDeclaration[] = Object.values(routes);
const parts = declared.flatMap((route) =>
  (['parameters', 'query', 'body'] as const).flatMap((part) => {
    const schema = route[part];
    return schema ? [{ name: `${route.name} ${part}`, schema }] : [];
  }),
);
const answers = declared.flatMap((route) =>
  Object.entries(route.responses).flatMap(([status, { schema }]) =>
    schema ? [{ name: `${route.name} ${status}`, schema }] : [],
  ),
);
const records = recordDeclarations.map(({ type, schema }) => ({ name: type, schema }));

/** A pattern that is anchored at both ends, without unbounded repetition, reads no more than it can match. */
const looksAtLittle = (pattern: RegExp) =>
  pattern.source.startsWith('^') &&
  pattern.source.endsWith('$') &&
  !/[^\\][*+]|\{\d+,\}/.test(pattern.source);

/** The checks of a text, in order. */
function checksOf(schema: z.core.$ZodType): z.core.$ZodCheckDef[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type !== 'string') return [];
  const own = 'check' in def ? [def as unknown as z.core.$ZodCheckDef] : [];
  return [...own, ...(def.checks ?? []).map((check) => check._zod.def)];
}

/** The patterns and checks that would run on a text of any length. */
function unboundedChecksOf(schema: z.core.$ZodType): string[] {
  const found: string[] = [];
  for (const check of checksOf(schema)) {
    if (check.check === 'max_length' && check.abort === true) break;
    if (check.check === 'custom') found.push('a check of its own');
    if (check.check !== 'string_format') continue;
    const { pattern, format } = check as z.core.$ZodCheckStringFormatDef;
    if (!pattern || !looksAtLittle(pattern)) found.push(pattern ? String(pattern) : format);
  }
  return found;
}

test.each([...parts, ...answers, ...records])(
  '$name: no pattern runs before the length is known',
  ({ schema }) => {
    const found = schemasWithin(schema).flatMap(([at, inner]) =>
      unboundedChecksOf(inner).map(
        (check) => `${at} runs ${check} first: declare it with text() of common.ts`,
      ),
    );
    expect(found).toEqual([]);
  },
);

test('every declared pattern takes linear time', () => {
  const patterns = new Set(
    [...parts, ...answers, ...records]
      .flatMap(({ schema }) => schemasWithin(schema))
      .flatMap(([, inner]) => checksOf(inner))
      .flatMap((check) => {
        const { pattern } = check as Partial<z.core.$ZodCheckStringFormatDef>;
        return pattern ? [String(pattern)] : [];
      }),
  );
  expect(patterns.size).toBeGreaterThan(10);
  for (const pattern of patterns) {
    const end = pattern.lastIndexOf('/');
    const time = timeOfPattern(pattern.slice(1, end), pattern.slice(end + 1));
    expect([pattern, time]).toEqual([pattern, 'safe']);
  }
});

/** The length of the longest text that the schema accepts at any place. */
function longestIn(schema: z.core.$ZodType): number {
  const limits = schemasWithin(schema)
    .flatMap(([, inner]) => checksOf(inner))
    .map((check) => (check.check === 'max_length' ? (check as z.core.$ZodCheckMaxLengthDef).maximum : 0));
  return Math.max(100, ...limits);
}

test('a list of recipients is taken by the system exactly where the published pattern takes it', () => {
  const { config } = routes.createChannel.body.options[3].shape;
  const { recipients } = config.shape;
  const { pattern } = z.toJSONSchema(recipients);
  const unit = fc.constantFrom(
    'a',
    'b1',
    '@',
    '@',
    '.',
    '-',
    ',',
    ' , ',
    '!',
    'é',
    '\t',
    'x'.repeat(63),
    'a@b',
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (list) => {
      const taken = recipients.safeParse(list).success;
      expect([list, taken]).toEqual([list, new RegExp(pattern ?? '').test(list.trim())]);
    }),
    { numRuns: 2_000 },
  );
});

describe.each(parts)('$name', ({ schema }) => {
  test.each([
    { length: 10 * longestIn(schema), title: 'ten times its limit' },
    { length: 100_000, title: '100 KB' },
  ])('is refused or taken in linear time, every text in it at $title', ({ length }) => {
    for (const [kind, worst] of Object.entries(worstTexts(length)))
      for (const [at, value] of valuesHolding(schema, worst)) {
        const took = processorTimeOf(() => schema.safeParse(value));
        if (took > longestLinearMs) throw new Error(`${at} with ${kind}: ${String(took)} ms`);
      }
  });
});
