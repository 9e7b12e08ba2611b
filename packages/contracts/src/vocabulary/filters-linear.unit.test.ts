// Filters run in time linear in the length of the text that they test: metadata holds up to 100 KB of foreign text.
import { describe, expect, test } from '@jest/globals';
import { attributeFilter, compileFilters, maximumFragments } from './filters.js';
import type { JsonObject, JsonValue } from './json.js';
import { longestLinearMs, processorTimeOf, worstTexts } from '../testing/worst-texts.js';

const length = 100_000;

/** The most expensive operands: of the maximum length, almost found at each place, and numbers. */
const operands = [
  5,
  '-1.5e3',
  true,
  'a'.repeat(1_000),
  `${'a'.repeat(31)}b${'a'.repeat(968)}`,
  `${'ab'.repeat(499)}c`,
  '1'.repeat(1_000),
  ' '.repeat(1_000),
];
const fragment = (at: number) => `${'a'.repeat(at)}b${'a'.repeat(999 - at)}`;
const values = [
  ...operands,
  Array.from({ length: maximumFragments }, (_, index) => fragment(index * 19)),
  Array.from({ length: 100 }, (_, index) => operands[index % operands.length]),
  [operands[3], operands[6]],
  [0, 1],
  undefined,
];

/** Every filter that the schema accepts with these values, with every operator. */
const operators = [
  ...new Set(
    attributeFilter.options.flatMap(({ shape: { operator } }): readonly string[] =>
      'options' in operator ? operator.options : [operator.value],
    ),
  ),
];
const filters = operators.map((operator) => ({
  operator,
  filters: values.flatMap((value) => {
    const parsed = attributeFilter.safeParse({
      field: 'field',
      operator,
      ...(value !== undefined && { value }),
    });
    return parsed.success ? [parsed.data] : [];
  }),
}));

const asked: Record<string, JsonValue> = {
  ...worstTexts(length),
  'a number of 100,000 digits': '1'.repeat(length),
  'a list of short texts': Array.from({ length: length / 5 }, (_, index) => `a${String(index % 10)}`),
  'lists within lists': Array.from({ length: 1_000 }, () => [['a'.repeat(40)], [' 1'.repeat(20)]]),
};

test('every operator is among them', () => {
  expect(operators).toEqual(expect.arrayContaining(['equals', 'contains', 'gt', 'in', 'between', 'exists']));
  for (const one of filters) expect([one.operator, one.filters.length > 0]).toEqual([one.operator, true]);
});

describe.each(filters)('$operator', ({ filters: ofOperator }) => {
  test.each(Object.entries(asked))('of 100 KB of %s takes linear time', (_, value) => {
    const metadata: JsonObject = { field: value };
    for (const filter of ofOperator) {
      const matches = compileFilters([filter]);
      const took = processorTimeOf(() => matches(metadata));
      if (took > longestLinearMs)
        throw new Error(`${JSON.stringify(filter).slice(0, 100)}… takes ${String(took)} ms`);
    }
  });
});
