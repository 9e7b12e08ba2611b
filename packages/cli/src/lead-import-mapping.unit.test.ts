// A mapping that a person changes, a column at a time.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { suggestedLeadImportMapping } from '@lead-scoring/contracts';
import { mappedIn, meaningIn, withMeaning, wordsFor, type Meaning } from './lead-import-mapping.js';

const mapping = suggestedLeadImportMapping.parse({
  primary_identifier: { column: 'Email', kind: 'email' },
  alias_mappings: [{ column: 'Id', kind: 'external_id' }],
  field_mappings: [{ column: 'Role', field: 'role' }],
  event_mappings: [{ event_type: 'Sign Up', time: { column: 'Since', format: 'day_first' } }],
});
const columns = ['Email', 'Id', 'Role', 'Since', 'Notes'];

test('is shown in the words in which it is changed', () => {
  expect(columns.map((column) => wordsFor(mapping, column))).toEqual([
    'primary email',
    'alias external_id',
    'field role',
    'event day_first Sign Up',
    '-',
  ]);
});

test('law: a column becomes what was said, in whatever order, and no other column changes but the one that it replaces', () => {
  const meaning: fc.Arbitrary<Meaning> = fc.oneof(
    fc.record({ as: fc.constant('alias' as const), kind: fc.constantFrom('phone', 'code') }),
    fc.record({ as: fc.constant('field' as const), field: fc.constantFrom('title', 'a b') }),
    fc.record({
      as: fc.constant('event' as const),
      eventType: fc.constantFrom('Demo', 'Page View'),
      format: fc.constantFrom('iso' as const, 'epoch' as const),
    }),
    fc.record({ as: fc.constant('nothing' as const) }),
  );
  const change = fc.tuple(fc.constantFrom(...columns), meaning);
  fc.assert(
    fc.property(fc.array(change), change, (before, [column, said]) => {
      const some = before.reduce((changed, [one, as]) => withMeaning(changed, one, as), mapping);
      const changed = withMeaning(some, column, said);
      expect(meaningIn(wordsFor(changed, column))).toEqual(said);
      for (const other of columns.filter((one) => one !== column))
        expect(wordsFor(changed, other)).toBe(wordsFor(some, other));
    }),
  );
});

test('a new primary identifier makes the one before an alias', () => {
  const changed = withMeaning(mapping, 'Id', { as: 'primary', kind: 'external_id' });
  expect(wordsFor(changed, 'Id')).toBe('primary external_id');
  expect(wordsFor(changed, 'Email')).toBe('alias email');
});

describe('a flag', () => {
  test.each<[string, ReturnType<typeof mappedIn>]>([
    ['Job Role=field title', { column: 'Job Role', meaning: { as: 'field', field: 'title' } }],
    ['a=b=primary email', { column: 'a=b', meaning: { as: 'primary', kind: 'email' } }],
    ['Notes=-', { column: 'Notes', meaning: { as: 'nothing' } }],
    ['Job Role=', { column: 'Job Role', meaning: { as: 'field', field: 'job_role' } }],
    [
      'Since=event Sign Up',
      { column: 'Since', meaning: { as: 'event', eventType: 'Sign Up', format: 'iso' } },
    ],
    ['Since=event epoch', null],
    ['Job Role', null],
    ['Job Role=title', null],
  ])('%s', (flag, meant) => {
    expect(mappedIn(flag)).toEqual(meant);
  });
});
