// Proposed mappings: the columns that are chosen for the alias, the type and the time.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { csvMapping, mapperOf } from './csv-mapping.js';
import { proposeMapping } from './mapping-proposal.js';

function proposed(columns: string[], ...rows: string[][]) {
  const proposal = proposeMapping(columns, rows);
  if ('problem' in proposal) throw new Error(proposal.problem);
  return proposal;
}

describe('the lead is named by', () => {
  test('e-mail addresses, for any name of their column', () => {
    const { mapping } = proposed(['Id', 'Reach'], ['1', 'ada@example.com'], ['2', 'bob@example.com']);
    expect(mapping.alias).toEqual({ kind: 'email', column: 'Reach' });
  });

  test('an id that differs in every row, and not a count that happens to differ', () => {
    const { mapping } = proposed(['Visits', 'Prospect ID'], ['1', 'p1'], ['2', 'p2']);
    expect(mapping.alias).toEqual({ kind: 'external_id', column: 'Prospect ID' });
  });

  test('a lead’s id, also when several rows have the same', () => {
    const { mapping } = proposed(['lead_id', 'row id'], ['a', '1'], ['a', '2']);
    expect(mapping.alias).toEqual({ kind: 'external_id', column: 'lead_id' });
  });

  test('international telephone numbers', () => {
    const { mapping } = proposed(['Call', 'n'], ['+4915112345678', '1'], ['+4915112345679', '1']);
    expect(mapping.alias).toEqual({ kind: 'phone', column: 'Call' });
  });

  test('no column without aliases: there is no proposal then, but a problem', () => {
    expect(proposeMapping(['a'], [['x'], ['x']])).toEqual({
      problem: expect.stringContaining('no column names the leads') as unknown,
    });
    expect(proposeMapping([], [])).toHaveProperty('problem');
  });
});

test('the event type, the time and the event id are taken from columns that hold them', () => {
  const { mapping, notes } = proposed(
    ['email', 'Event', 'Created at', 'Message ID', 'Page'],
    ['a@example.com', 'Visit', '2026-01-01T00:00:00Z', 'm1', '/'],
    ['a@example.com', 'Call', '', 'm2', ''],
  );
  expect(mapping.events).toEqual([
    {
      event_type: { column: 'Event' },
      timestamp: { column: 'Created at' },
      event_id: { column: 'Message ID' },
    },
  ]);
  expect(notes.join(' ')).toContain('"when_empty": "now"');
});

test('a column of times without an offset is not proposed: the API would refuse them', () => {
  const { mapping } = proposed(
    ['email', 'Date'],
    ['a@example.com', '2026-01-01 10:00'],
    ['b@example.com', ''],
  );
  expect(mapping.events[0]).toEqual({ event_type: { fixed: 'Imported' }, event_id: { fixed: 'imported' } });
});

test('for a file with several rows per lead and no ids, a note says that its events would count again', () => {
  const { notes } = proposed(['email'], ['a@example.com'], ['a@example.com']);
  expect(notes.join(' ')).toContain('would count again');
});

test.each([
  ['TotalVisits', 'Page View'],
  ['Number of page views', 'Page View'],
  ['Email opens', 'Email Open'],
  ['clicks', 'Email Click'],
  ['Downloads', 'Download'],
])('the numbers in the column %s are counts of the event type %s', (column, type) => {
  const { mapping } = proposed(['email', column], ['a@example.com', '3'], ['b@example.com', '0']);
  expect(mapping.events[1]).toEqual({ event_type: { fixed: type }, repeat: { column } });
});

test.each(['Page Views Per Visit', 'Score', 'Visits'])(
  'the column %s, whose values are not counts, gives no events',
  (column) => {
    const { mapping } = proposed(['email', column], ['a@example.com', '2.5']);
    expect(mapping.events).toHaveLength(1);
  },
);

test('columns that resemble fields of the lead are renamed to them, codes stay text, and words for "nothing" are ignored', () => {
  const { mapping } = proposed(
    ['email', 'Full Name', 'Company Name', 'Company', 'Zip', 'Amount', 'Source'],
    ['a@example.com', 'Ada', 'Acme', 'Globex', '10115', '7', 'Select'],
  );
  expect(mapping.metadata).toEqual({
    columns: 'others',
    rename: { 'Full Name': 'name' },
    text: ['Zip'],
    ignore_values: ['Select'],
  });
});

test('for any file, the proposed mapping is valid and fits the file', () => {
  const cell = fc.constantFrom(
    '',
    '1',
    '2.5',
    'ada@example.com',
    'Select',
    '2026-01-01T00:00:00Z',
    '+4915112345678',
    'é',
  );
  const name = fc.constantFrom(
    'email',
    'Event',
    'When',
    'Visits',
    'Full Name',
    'Lead ID',
    'Zip',
    'a',
    'A',
    '',
  );
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 1 }),
      fc.array(fc.array(cell), { maxLength: 6 }),
      (columns, rows) => {
        const proposal = proposeMapping(columns, rows);
        if ('problem' in proposal) return;
        const mapper = mapperOf(csvMapping.parse(proposal.mapping), columns);
        // Two columns may get the same key; then the person is told to choose.
        if ('problem' in mapper) expect(mapper.problem).toContain('would both be');
        else for (const row of rows) mapper(row);
      },
    ),
  );
});
