// Attribute filters: every operator, missing fields, arrays, paths, and the wording for people.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { attributeFilter, compileFilters, filterLabel, type AttributeFilter } from './filters.js';
import type { JsonObject } from './json.js';

const matches = (filter: AttributeFilter, metadata: JsonObject) => compileFilters([filter])(metadata);
const filter = (field: string, operator: string, value?: unknown, further: object = {}) =>
  attributeFilter.parse({ field, operator, ...(value !== undefined && { value }), ...further });

describe('an operator holds or does not', () => {
  test.each<[string, unknown, unknown, boolean]>([
    ['equals', '/Pricing', '/pricing', true],
    ['equals', '5', 5, true],
    ['equals', '5.0', '5', true],
    ['equals', ' 5 ', 5, true],
    ['equals', '0x10', 16, false],
    ['equals', '5.', '5', true],
    ['equals', '.5', '0.5', true],
    ['equals', '5e1', 50, true],
    ['equals', '.', 0, false],
    ['equals', 1, `1.${'0'.repeat(398)}`, true],
    ['equals', 1, `1.${'0'.repeat(399)}`, false],
    ['equals', 'true', true, true],
    ['equals', 'null', null, false],
    ['equals', 'a', ['b', 'A'], true],
    ['equals', 'a', [], false],
    ['equals', 'a', [null, ['A']], true],
    ['equals', '[object Object]', {}, false],
    ['not_equals', 'a', 'b', true],
    ['not_equals', 'a', ['a', 'b'], false],
    ['not_equals', 'a', [], true],
    ['contains', 'ric', '/PRICING', true],
    ['contains', '3', 1234, true],
    ['contains', 'x', '/pricing', false],
    ['contains', '', 'anything', true],
    ['contains', ['/privacy', '/terms'], '/legal/TERMS', true],
    ['contains', ['/privacy', '/terms'], '/imprint', false],
    ['contains', ['/privacy', '/terms'], ['/imprint', '/privacy'], true],
    ['contains', ['x'.repeat(999), `${'ab'.repeat(400)}c`], `${'ab'.repeat(900)}C`, true],
    ['contains', `${'ab'.repeat(400)}c`, 'ab'.repeat(900), false],
    ['not_contains', 'x', ['abc', 'axc'], false],
    ['not_contains', ['x', 'y'], ['abc', 'ayc'], false],
    ['not_contains', ['x', 'y'], 'abc', true],
    ['not_contains', 'x', 'abc', true],
    ['starts_with', '/P', '/pricing', true],
    ['starts_with', 'p', '/pricing', false],
    ['starts_with', ['/blog', '/P'], '/pricing', true],
    ['starts_with', ['blog', 'p'], '/pricing', false],
    ['ends_with', ['.pdf', '.DOCX'], '/whitepaper.docx', true],
    ['ends_with', ['.pdf', '.docx'], '/whitepaper.docx/', false],
    ['ends_with', 'ING', '/pricing', true],
    ['ends_with', '/', '/pricing', false],
    ['in', ['DE', 'AT'], 'de', true],
    ['in', [1, 2], '2.0', true],
    ['in', ['DE', 'AT'], ['fr', 'at'], true],
    ['in', ['DE', 'AT'], 'fr', false],
    ['not_in', ['DE', 'AT'], 'fr', true],
    ['not_in', ['DE', 'AT'], ['fr', 'at'], false],
    ['gt', 9, '10', true],
    ['gt', '9', '10', true],
    ['gt', 10, 10, false],
    ['gte', 10, '10', true],
    ['lt', 10, 9.5, true],
    ['lt', 10, 10, false],
    ['lte', 10, 10, true],
    ['gt', 'a', 'B', true],
    ['lt', '2026-02-01', '2026-01-31', true],
    ['gt', 5, [1, 9], true],
    ['between', [1, 5], 5, true],
    ['between', [1, 5], 5.1, false],
    ['between', [4, 6], [1, 9], false],
    ['between', ['a', 'c'], 'B', true],
    ['exists', undefined, 0, true],
    ['exists', undefined, [], true],
    ['exists', undefined, null, false],
    ['not_exists', undefined, null, true],
    ['not_exists', undefined, '', false],
  ])('%s %j of %j: %s', (operator, operand, value, expected) => {
    expect(matches(filter('field', operator, operand), { field: value } as JsonObject)).toBe(expected);
  });
});

test('a missing field makes every operator false except not_exists', () => {
  const all = [
    ...[
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
    ].map((operator) => filter('gone', operator, 'x')),
    ...['in', 'not_in'].map((operator) => filter('gone', operator, ['x'])),
    filter('gone', 'between', ['a', 'z']),
    filter('gone', 'exists'),
  ];
  for (const one of all)
    expect([one.operator, matches(one, { field: 'x', toString: null })]).toEqual([one.operator, false]);
  expect(matches(filter('gone', 'not_exists'), {})).toBe(true);
  expect(matches(filter('toString', 'exists'), {})).toBe(false);
});

test('match_missing turns the negatives round, and only them', () => {
  for (const [operator, value] of [
    ['not_equals', 'x'],
    ['not_contains', 'x'],
    ['not_in', ['x']],
  ] as const)
    expect(matches(filter('gone', operator, value, { match_missing: true }), {})).toBe(true);
  expect(matches(filter('gone', 'equals', 'x', { match_missing: true }), {})).toBe(false);
});

describe('a field is found', () => {
  test.each<[string, string, JsonObject, boolean]>([
    ['by its key', 'path', { path: 'x' }, true],
    ['by a path', 'page.path', { page: { path: 'x' } }, true],
    ['by a key that holds the dots', 'page.path', { 'page.path': 'x', page: { path: 'y' } }, true],
    ['with metadata. in front', 'metadata.page.path', { page: { path: 'x' } }, true],
    ['in an object that is called metadata', 'metadata.path', { metadata: { path: 'x' }, path: 'y' }, true],
    ['in any element of a list', 'items.sku', { items: [{ sku: 'y' }, { sku: 'x' }] }, true],
    ['by a key that every object inherits', 'constructor', { constructor: 'x' }, true],
    ['not where only the prototype has it', 'constructor.name', {}, false],
    ['not through a text', 'path.length', { path: 'x' }, false],
    ['not in elements that lack it', 'items.sku', { items: [1, {}] }, false],
  ])('%s', (_, field, metadata, expected) => {
    expect(matches(filter(field, 'equals', 'x'), metadata)).toBe(expected);
  });
});

test('a negative is the opposite of its positive wherever the field is there', () => {
  const pairs = [
    ['equals', 'not_equals'],
    ['contains', 'not_contains'],
  ] as const;
  fc.assert(
    fc.property(
      fc.jsonValue().filter((value) => value !== null),
      fc.oneof(fc.string(), fc.integer(), fc.boolean()),
      (value, operand) => {
        const metadata = { field: value } as JsonObject;
        for (const [positive, negative] of pairs)
          expect(matches(filter('field', negative, operand), metadata)).toBe(
            !matches(filter('field', positive, operand), metadata),
          );
      },
    ),
  );
});

test('a list of fragments holds when one of them alone holds', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '/'), maxLength: 12 });
  fc.assert(
    fc.property(
      fc.constantFrom('contains', 'starts_with', 'ends_with'),
      fc.array(
        text.filter((part) => part !== ''),
        { minLength: 1, maxLength: 5 },
      ),
      text,
      (operator, parts, value) => {
        const metadata = { field: value };
        const one = parts.some((part) => matches(filter('field', operator, part), metadata));
        expect(matches(filter('field', operator, parts), metadata)).toBe(one);
      },
    ),
  );
});

test('a list of values holds when one of them alone is equal', () => {
  const value = fc.constantFrom(
    5,
    '5',
    ' 5.0 ',
    '5x',
    'a',
    'A',
    '',
    true,
    'true',
    0,
    -0,
    '1e999',
    '-1e999',
    '.',
  );
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), value, (options, found) => {
      const metadata = { field: found };
      const one = options.some((option) => matches(filter('field', 'equals', option), metadata));
      expect(matches(filter('field', 'in', options), metadata)).toBe(one);
    }),
  );
});

test('a long fragment is found where includes finds it', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 251, maxLength: 300 });
  fc.assert(
    fc.property(letters, letters, fc.nat(40), (fragment, other, cut) => {
      const metadata = { field: other + fragment.slice(cut) + other + fragment.slice(0, 300 - cut) };
      expect(matches(filter('field', 'contains', fragment), metadata)).toBe(
        metadata.field.includes(fragment),
      );
    }),
  );
});

test('all filters must match, and none at all match anything', () => {
  const path = filter('path', 'equals', 'x');
  expect(compileFilters([])({})).toBe(true);
  expect(compileFilters([path, filter('a', 'exists')])({ path: 'x' })).toBe(false);
});

test('a filter with the wrong kind of value is refused', () => {
  for (const wrong of [
    { field: 'a', operator: 'in', value: 'x' },
    { field: 'a', operator: 'in', value: [] },
    { field: 'a', operator: 'contains', value: [] },
    { field: 'a', operator: 'contains', value: ['x', ''] },
    { field: 'a', operator: 'contains', value: ['x', 1] },
    { field: 'a', operator: 'starts_with', value: Array.from({ length: 51 }, String) },
    { field: 'a', operator: 'equals', value: ['x'] },
    { field: 'a', operator: 'gt', value: [1] },
    { field: 'a', operator: 'between', value: [1] },
    { field: 'a', operator: 'equals' },
    { field: 'a', operator: 'exists', value: 'x' },
    { field: '', operator: 'exists' },
    { field: 'a', operator: 'matches', value: '.*' },
    { field: 'a', operator: 'equals', value: { $ne: null } },
  ])
    expect([wrong, attributeFilter.safeParse(wrong).success]).toEqual([wrong, false]);
});

test('a label is the sentence a person would say', () => {
  const label = (...filters: AttributeFilter[]) => filterLabel(filters);
  expect(label()).toBeUndefined();
  expect(label(filter('path', 'contains', '/pricing'))).toBe('path contains "/pricing"');
  expect(label(filter('country', 'in', ['DE', 'AT']), filter('amount', 'between', [1, 5]))).toBe(
    'country is one of "DE", "AT" and amount is between 1 and 5',
  );
  expect(label(filter('ref', 'not_exists'))).toBe('ref is missing');
  expect(label(filter('path', 'contains', ['/privacy', '/terms']))).toBe(
    'path contains "/privacy" or "/terms"',
  );
  expect(label(filter('path', 'not_contains', ['/a', '/b', '/c']))).toBe(
    'path does not contain "/a" or "/b" or "/c"',
  );
  expect(label(filter('file', 'ends_with', ['.pdf']))).toBe('file ends with ".pdf"');
});
