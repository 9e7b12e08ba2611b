// Lead fields from event metadata: the latest event time wins, in whatever order the events arrive.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { leadField, leadFieldNames, leadFieldsOf, withLeadFields, type LeadField } from './lead-fields.js';

const at = '2026-01-31T09:30:00.000Z';
const some: fc.Arbitrary<LeadField> = fc.record({
  field: fc.constantFrom(...leadFieldNames),
  value: fc.constantFrom('a', 'b', 'c'),
  at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'),
});

test('order and repetition of events do not matter', () => {
  fc.assert(
    fc.property(fc.array(some), fc.func(fc.double({ noNaN: true })), fc.nat(10), (fields, shuffle, cut) => {
      const shuffled = [...fields, ...fields.slice(0, cut)].sort((a, b) => shuffle(a, b));
      const inTwo = withLeadFields(withLeadFields({}, shuffled.slice(0, cut)), shuffled.slice(cut));
      expect(inTwo).toEqual(withLeadFields({}, fields));
    }),
  );
});

test('the latest by event time wins', () => {
  const older: LeadField = { field: 'owner', value: 'z', at: '2026-01-01T00:00:00.000Z' };
  const newer: LeadField = { field: 'owner', value: 'a', at: '2026-01-02T00:00:00.000Z' };
  expect(withLeadFields({}, [newer, older]).owner?.value).toBe('a');
});

test('nothing newer leaves the very same fields', () => {
  const fields = withLeadFields({}, [{ field: 'owner', value: 'a', at }]);
  expect(withLeadFields(fields, [{ field: 'owner', value: 'a', at }])).toBe(fields);
});

test('a name is the name, or first and last name', () => {
  expect(leadFieldsOf({ name: ' Ada ', first_name: 'X' }, at)).toEqual([{ field: 'name', value: 'Ada', at }]);
  expect(leadFieldsOf({ first_name: 'Ada', last_name: 'Lovelace' }, at)).toEqual([
    { field: 'name', value: 'Ada Lovelace', at },
  ]);
  expect(leadFieldsOf({ last_name: 'Lovelace', company: 7, title: ' ' }, at)).toEqual([
    { field: 'name', value: 'Lovelace', at },
  ]);
});

test('whatever the metadata holds, the fields fit the record that carries them', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom('name', 'first_name', 'last_name', 'company', '__proto__'),
        fc.oneof(fc.string({ unit: 'binary', maxLength: 500 }), fc.jsonValue()),
      ),
      (metadata) => {
        for (const field of leadFieldsOf(JSON.parse(JSON.stringify(metadata)) as never, at)) {
          expect(leadField.safeParse(field).error?.issues).toBeUndefined();
          expect(field.value.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});
