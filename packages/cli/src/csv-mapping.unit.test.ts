// A mapping turns the rows of a CSV into events, the same events each time.
import { describe, expect, test } from '@jest/globals';
import { eventsOfJson, validateEvents } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { csvMapping, mapperOf, type CsvMapping } from './csv-mapping.js';

const columns = ['Prospect ID', 'TotalVisits', 'Last Activity', 'City of Birth', 'Score', 'Company'];
const visits = {
  alias: { kind: 'external_id', column: 'Prospect ID' },
  events: [
    { event_type: { fixed: 'Page View' }, repeat: { column: 'TotalVisits' } },
    { event_type: { column: 'Last Activity' }, event_id: { column: 'Last Activity' } },
  ],
  metadata: { ignore_values: ['Select'] },
};

function mapped(mapping: unknown, row: string[], among = columns) {
  const mapper = mapperOf(csvMapping.parse(mapping), among);
  if ('problem' in mapper) throw new Error(mapper.problem);
  return mapper(row);
}

test('a row gives as many events as its count, with numbered ids, and one for its last activity', () => {
  const { events } = mapped(visits, ['p1', '2', 'Email Opened', 'Select', '007', 'Acme']);
  const metadata = { score: '007', company: 'Acme' };
  const lead = { alias_kind: 'external_id', alias: 'p1' };
  expect(events).toEqual([
    { ...lead, event_type: 'Page View', event_id: 'page_view-1', metadata },
    { ...lead, event_type: 'Page View', event_id: 'page_view-2', metadata },
    { ...lead, event_type: 'Email Opened', event_id: 'Email Opened', metadata },
  ]);
});

test('an empty count or event type gives no event, and an ignored value no metadata', () => {
  expect(mapped(visits, ['p1', '', '', '', '', ''])).toEqual({ events: [] });
  expect(mapped(visits, ['p1', '0', 'Select'])).toEqual({ events: [] });
});

test('a row without a lead, or with an invalid count, is reported and gives no event', () => {
  expect(mapped(visits, ['', '1', 'x'])).toEqual({ events: [], problem: 'Prospect ID is empty' });
  for (const number of ['-1', '1.5', 'many', '10001'])
    expect(mapped(visits, ['p1', number, 'x'])).toMatchObject({
      events: [],
      problem: expect.stringContaining('TotalVisits') as unknown,
    });
});

describe('metadata', () => {
  const one = (metadata: object, row: string[]) =>
    mapped(
      { alias: { kind: 'x', column: 'Prospect ID' }, events: [{ event_type: { fixed: 'E' } }], metadata },
      row,
    ).events[0]?.metadata;
  const row = ['p1', '3', 'Opened', 'Thane & Outskirts', '1.50', ''];

  test('is every other column, in snake_case, numbers as numbers', () => {
    expect(one({}, row)).toEqual({
      totalvisits: 3,
      last_activity: 'Opened',
      city_of_birth: 'Thane & Outskirts',
      score: 1.5,
    });
  });

  test('is the listed columns, under the keys that the mapping gives them', () => {
    expect(
      one({ columns: ['City of Birth', 'Score'], rename: { Score: 'points' }, keys: 'as_is' }, row),
    ).toEqual({
      'City of Birth': 'Thane & Outskirts',
      points: 1.5,
    });
  });
});

test('fields of the lead are text, also where they look like numbers', () => {
  const { events } = mapped(
    { alias: { kind: 'x', column: 'id' }, events: [{ event_type: { fixed: 'E' } }] },
    ['1', '4915112345678', '1848', '7'],
    ['id', 'Phone', 'company', 'amount'],
  );
  expect(events[0]?.metadata).toEqual({ phone: '4915112345678', company: '1848', amount: 7 });
});

test('two columns with the same key are refused: one of them would be lost', () => {
  const mapping = { alias: { kind: 'x', column: 'id' }, events: [{ event_type: { fixed: 'E' } }] };
  const names = ['id', 'Job Title', 'job-title'];
  expect(mapperOf(csvMapping.parse(mapping), names)).toEqual({
    problem: expect.stringMatching(
      /"Job Title" and "job-title" would both be the metadata key job_title/,
    ) as unknown,
  });
});

test('for a column that the file does not have, the problem names it and the columns of the file', () => {
  const mapper = mapperOf(csvMapping.parse({ ...visits, alias: { kind: 'x', column: 'Email' } }), columns);
  expect(mapper).toEqual({ problem: expect.stringMatching(/"Email".*Prospect ID/) as unknown });
});

test('an invalid mapping is refused', () => {
  for (const wrong of [
    {},
    { ...visits, events: [] },
    { ...visits, other: 1 },
    { ...visits, events: [{ event_type: 'x' }] },
  ])
    expect(csvMapping.safeParse(wrong).success).toBe(false);
});

test('the API accepts the events of any mapping, which are the same each time', () => {
  const context = {
    ouId: '11111111-1111-4111-8111-111111111111',
    receivedAt: '2026-01-31T09:30:00.000Z',
    repeatableBatchId: null,
  };
  const mapping: CsvMapping = csvMapping.parse(visits);
  const cell = fc.string({ unit: fc.constantFrom('a', 'B', '0', '1', '.', '-', ' ', 'é', '_') });
  fc.assert(
    fc.property(fc.array(cell, { minLength: 6, maxLength: 6 }), fc.nat(5), (cells, count) => {
      const row = ['p1', String(count), ...cells.slice(2)];
      const mapper = mapperOf(mapping, columns);
      if ('problem' in mapper) throw new Error(mapper.problem);
      const { events } = mapper(row);
      expect(mapper(row).events).toEqual(events);
      const sent = eventsOfJson(events);
      if (Array.isArray(sent)) expect(validateEvents(sent, context).rejected).toEqual([]);
      expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
    }),
  );
});
