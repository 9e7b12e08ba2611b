import { expect, test } from '@jest/globals';
import { nearestName } from './nearest-name.js';

const known = ['event_type', 'weight', 'label', 'attribute_filters', 'ruleset_id', 'id', 'to'];

test.each([
  ['attributeFilters', 'attribute_filters'],
  ['attribute-filters', 'attribute_filters'],
  ['atribute_filter', 'attribute_filters'],
  ['filters', 'attribute_filters'],
  ['eventtype', 'event_type'],
  ['Weigth', 'weight'],
  ['event_type_name', 'event_type'],
  ['color', undefined],
  ['x', undefined],
  ['', undefined],
  ['é', undefined],
  ['attribute_filters'.repeat(50), undefined],
])('%j: did you mean %j', (sent, meant) => {
  expect(nearestName(sent, known)).toBe(meant);
});

test('what is no letter is no name', () => {
  expect(nearestName('____', ['____a', 'abc'])).toBeUndefined();
});
