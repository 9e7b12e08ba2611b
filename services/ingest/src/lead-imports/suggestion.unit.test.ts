// What columns of a table are taken for: from their names and from their values.
import { describe, expect, test } from '@jest/globals';
import { leadImportMapping, leadFieldNames } from '@lead-scoring/contracts';
import { suggestionOf } from './suggestion.js';

const rows = (count: number, of: (row: number) => string[]) =>
  Array.from({ length: count }, (_, row) => of(row));

describe('a list of contacts', () => {
  const headers = [
    'Contact ID',
    'First Name',
    'Last Name',
    'E-Mail',
    'Mobile Phone',
    'Account Name',
    'Job Title',
  ];
  const found = suggestionOf(
    [...headers, 'Contact Owner', 'Owner Email', 'Lead Score', 'Last Activity Date', 'Birthday'],
    rows(40, (row) => [
      ...[
        `C-${String(row)}`,
        'Ada',
        'Lovelace',
        `ada${String(row)}@example.com`,
        `+4915112345${String(100 + row)}`,
      ],
      ...['Analytical Engines', 'Countess', 'Charles', 'charles@example.com', String(row % 7)],
      ...[`2026-01-${String(10 + (row % 9))}`, row % 2 === 0 ? 'N/A' : '1815-12-10'],
    ]),
  );

  test('is named by its e-mail addresses, and linked to its ids and telephone numbers', () => {
    expect(found.mapping.primary_identifier).toEqual({ column: 'E-Mail', kind: 'email' });
    expect(found.mapping.alias_mappings).toEqual([
      { column: 'Contact ID', kind: 'external_id' },
      { column: 'Mobile Phone', kind: 'phone' },
    ]);
  });

  test('gives the fields of leads, and others a key of their own', () => {
    expect(found.mapping.field_mappings).toEqual([
      { column: 'First Name', field: 'first_name' },
      { column: 'Last Name', field: 'last_name' },
      { column: 'Account Name', field: 'company' },
      { column: 'Job Title', field: 'title' },
      { column: 'Contact Owner', field: 'owner' },
      { column: 'Owner Email', field: 'owner_email' },
      { column: 'Lead Score', field: 'lead_score' },
      { column: 'Birthday', field: 'birthday' },
    ]);
    expect(leadFieldNames).toEqual(expect.arrayContaining(['company', 'title', 'owner']));
  });

  test('tells of what was done when its column says so, and not of other dates', () => {
    expect(found.mapping.event_mappings).toEqual([
      { event_type: 'Activity', time: { column: 'Last Activity Date', format: 'iso' }, field_mappings: [] },
    ]);
  });

  test('has cells that mean nothing', () => {
    expect(found.mapping.ignore_values).toEqual(['N/A']);
  });

  test('is a mapping that an import takes as it is', () => {
    expect(leadImportMapping.parse(found.mapping)).toEqual(found.mapping);
  });
});

test('of columns that would give the same field, one gives it', () => {
  const { mapping } = suggestionOf(
    ['Email', 'Work Phone', 'Mobile Phone', 'Company', 'Organization', 'phone'],
    rows(3, (row) => [`a${String(row)}@example.com`, '1', '2', 'x', 'y', '3']),
  );
  expect(mapping.field_mappings).toEqual([
    { column: 'Work Phone', field: 'work_phone' },
    { column: 'Mobile Phone', field: 'mobile_phone' },
    { column: 'Company', field: 'company' },
    { column: 'Organization', field: 'organization' },
    { column: 'phone', field: 'phone' },
  ]);
});

test('ids name leads where e-mail addresses are few, and a person is told where nothing does', () => {
  const sparse = suggestionOf(
    ['Email', 'Customer ID'],
    rows(20, (row) => [row < 5 ? `a${String(row)}@example.com` : '', String(1000 + row)]),
  );
  expect(sparse.mapping.primary_identifier).toEqual({ column: 'Customer ID', kind: 'external_id' });
  expect(sparse.mapping.alias_mappings).toEqual([{ column: 'Email', kind: 'email' }]);
  const none = suggestionOf(
    ['City'],
    rows(5, () => ['Paris']),
  );
  expect(none.mapping.primary_identifier).toBeNull();
  expect(none.problems).toEqual([expect.objectContaining({ code: 'no_identifier' })]);
});

test('a browser names a lead only where nothing else does', () => {
  const { mapping } = suggestionOf(
    ['Anonymous ID', 'Email'],
    rows(20, (row) => [`v${String(row)}`, `a${String(row)}@example.com`]),
  );
  expect(mapping.primary_identifier).toEqual({ column: 'Email', kind: 'email' });
  expect(mapping.alias_mappings).toEqual([{ column: 'Anonymous ID', kind: 'anonymous_id' }]);
});

test('dates that may begin with the day or the month are pointed out', () => {
  const { problems } = suggestionOf(
    ['Email', 'Since'],
    rows(4, (row) => [`a${String(row)}@example.com`, `0${String(row + 1)}/04/2026`]),
  );
  expect(problems).toEqual([expect.objectContaining({ code: 'date_ambiguous', column: 'Since' })]);
});
