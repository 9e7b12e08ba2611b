// What a row of a table says about its lead, and why a row fails.
import { describe, expect, test } from '@jest/globals';
import { leadImportMapping, leadIdOf, type LeadImportMapping } from '@lead-scoring/contracts';
import fc from 'fast-check';
import type { StoredRow } from './documents.js';
import { fieldsTwice, importDigest, rowImporter, unknownColumns } from './row-events.js';

const ouId = '11111111-1111-4111-8111-111111111111';
const at = '2026-02-01T00:00:00.000Z';
const headers = ['Email', 'Id', 'Name', 'Signed up'];
const mapping = leadImportMapping.parse({
  primary_identifier: { column: 'Email', kind: 'email' },
  alias_mappings: [{ column: 'Id', kind: 'external_id' }],
  field_mappings: [{ column: 'Name', field: 'name' }],
  event_mappings: [{ event_type: 'Sign Up', time: { column: 'Signed up', format: 'day_first' } }],
  ignore_values: ['n/a'],
} satisfies Parameters<typeof leadImportMapping.parse>[0]);
const digest = importDigest('a'.repeat(64), mapping);
const read = (rows: readonly StoredRow[], by: LeadImportMapping = mapping) =>
  rowImporter(by, headers, { ouId, at, digest: importDigest('a'.repeat(64), by) })(rows);

describe('a row', () => {
  test('gives its lead an event with its fields, and the events that it tells of', () => {
    const { imported, failed } = read([[2, [' Ada@Example.com', '7', 'Ada Lovelace', '31/01/2026']]]);
    expect(failed).toEqual([]);
    expect(imported).toEqual([
      {
        row: 2,
        events: [
          {
            id: expect.any(String) as unknown,
            event_id: `${digest.slice(0, 40)}:2`,
            may_repeat: true,
            lead_id: leadIdOf(ouId, 'email', 'ada@example.com'),
            aliases: [
              { alias_kind: 'email', alias: 'ada@example.com' },
              { alias_kind: 'external_id', alias: '7' },
            ],
            event_type: 'Lead Imported',
            timestamp: at,
            metadata: { name: 'Ada Lovelace' },
          },
          expect.objectContaining({
            event_id: `${digest.slice(0, 40)}:2:0`,
            event_type: 'Sign Up',
            timestamp: '2026-01-31T00:00:00.000Z',
          }),
        ],
      },
    ]);
  });

  test('with empty cells, and with those that mean nothing, says less', () => {
    const { imported } = read([[2, ['ada@example.com', 'n/a', '', 'n/a']]]);
    expect(imported[0]?.events).toEqual([
      expect.objectContaining({ aliases: [{ alias_kind: 'email', alias: 'ada@example.com' }] }),
    ]);
    expect(imported[0]?.events[0]).not.toHaveProperty('metadata');
  });

  test.each<[string, string[], string]>([
    ['without its name', ['', '7'], 'Email is empty, so that the lead has no name'],
    ['with a name that is none', ['ada', '7'], 'Email must be an e-mail address'],
    [
      'with a time that is none',
      ['ada@example.com', '7', '', 'soon'],
      'Signed up is no time of the format day_first',
    ],
    [
      'of the far future',
      ['ada@example.com', '7', '', '1/1/2999'],
      'timestamp must be at most 24 hours in the future',
    ],
    ['with too many cells', ['ada@example.com', '7', '', '', 'more'], 'has 5 cells where the header has 4'],
  ])('%s fails with the reason', (_, cells, message) => {
    expect(read([[5, cells]])).toEqual({
      imported: [],
      failed: [{ row: 5, code: 'invalid_row', message, cells }],
    });
  });
});

test('law: rows give the same events however they are divided', () => {
  const cell = fc.constantFrom('', 'a@example.com', 'b@example.com', 'x', '1/2/2026', '2/1/2026');
  fc.assert(
    fc.property(fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 12 }), fc.nat(12), (cells, cut) => {
      const rows = cells.map((one, index): StoredRow => [index + 2, one]);
      const whole = read(rows);
      const [first, second] = [read(rows.slice(0, cut)), read(rows.slice(cut))];
      expect({
        imported: [...first.imported, ...second.imported],
        failed: [...first.failed, ...second.failed],
      }).toEqual(whole);
    }),
  );
});

test('another mapping is another import: its events have ids of their own', () => {
  const row: StoredRow[] = [[2, ['ada@example.com', '7', 'Ada', '']]];
  const other = read(row, { ...mapping, alias_mappings: [] });
  expect(read(row).imported[0]?.events[0].id).toBe(read(row).imported[0]?.events[0].id);
  expect(other.imported[0]?.events[0].id).not.toBe(read(row).imported[0]?.events[0].id);
});

test('a mapping names columns of the table, and gives each field once', () => {
  const wrong = {
    ...mapping,
    field_mappings: [
      { column: 'Nmae', field: 'name' },
      { column: 'Id', field: 'name' },
    ],
  };
  expect(unknownColumns(wrong, headers)).toEqual(['Nmae']);
  expect(fieldsTwice(wrong)).toEqual(['name']);
  expect(unknownColumns(mapping, headers)).toEqual([]);
  expect(fieldsTwice(mapping)).toEqual([]);
});
