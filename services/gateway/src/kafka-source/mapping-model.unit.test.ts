// How records of a source become events: each place, each fault, and the laws of the mapping.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { validateEvents } from '@lead-scoring/contracts';
import { mapRecord, type MappedRecord } from './mapping-model.js';
import { recordIds } from './record-ids.js';
import { parseSourceFile, type EventMapping } from './source-file.js';

const at = Date.parse('2026-03-01T10:00:00.000Z');

function record(more: Partial<MappedRecord> & { headers?: Record<string, string> } = {}): MappedRecord {
  const { headers = {}, ...rest } = more;
  return {
    value: { who: { email: 'ada@example.com', id: 17 }, what: 'Order Placed' },
    key: () => ({ value: 'u-17' }),
    header: (name) => headers[name],
    timestamp: at,
    id: 'shop/orders/0/1/1',
    ...rest,
  };
}

function mapping(event: object): EventMapping {
  const file = parseSourceFile(JSON.stringify({ name: 'shop', topic: 'orders', format: 'json', event }));
  if ('problems' in file) throw new Error(file.problems.join('; '));
  return file.event;
}

const usual = {
  alias_kind: { fixed: 'email' },
  alias: { value: 'who.email' },
  event_type: { value: 'what' },
};
const sentOf = (event: object, from = record()) => {
  const mapped = mapRecord(mapping({ ...usual, ...event }), from);
  return 'sent' in mapped ? mapped.sent : mapped;
};

test('fields come from the value, the key, headers or the mapping; id and time default to the record’s', () => {
  expect(sentOf({})).toEqual({
    alias_kind: 'email',
    alias: 'ada@example.com',
    event_type: 'Order Placed',
    event_id: 'shop/orders/0/1/1',
    timestamp: '2026-03-01T10:00:00.000Z',
  });
  const from = record({ headers: { type: 'Refund', 'order-id': '9' } });
  expect(
    sentOf(
      {
        alias_kind: { fixed: 'user_id' },
        alias: { key: '' },
        event_type: { header: 'type' },
        event_id: { header: 'order-id' },
      },
      from,
    ),
  ).toMatchObject({ alias_kind: 'user_id', alias: 'u-17', event_type: 'Refund', event_id: '9' });
});

test('a path is names with dots, or a list of names that may have dots; it leads into lists by number', () => {
  const value = { 'a.b': { c: ['x', 'y'] }, what: 'View' };
  expect(sentOf({ alias: { value: ['a.b', 'c', '1'] } }, record({ value }))).toMatchObject({ alias: 'y' });
});

test('numbers become texts; an empty text and null are as good as nothing', () => {
  expect(sentOf({ alias: { value: 'who.id' } })).toMatchObject({ alias: '17' });
  const value = { who: { email: null, id: '' }, what: 'View' };
  expect(sentOf({ event_id: { value: 'who.id' } }, record({ value }))).toMatchObject({
    event_id: 'shop/orders/0/1/1',
  });
});

test('aliases that a record lacks are left out; without any the record cannot be mapped', () => {
  const { alias_kind: _kind, alias: _alias, ...rest } = usual;
  const several = mapping({
    ...rest,
    aliases: [
      { alias_kind: { fixed: 'user_id' }, alias: { value: 'who.id' } },
      { alias_kind: { fixed: 'email' }, alias: { value: 'who.email' } },
    ],
  });
  expect(mapRecord(several, record({ value: { who: { email: 'a@b' }, what: 'View' } }))).toMatchObject({
    sent: { aliases: [{ alias_kind: 'email', alias: 'a@b' }] },
  });
  expect(mapRecord(several, record({ value: { what: 'View' } }))).toEqual({
    problem: 'aliases: the record has none of the values that the mapping names',
  });
});

describe('timestamp', () => {
  test.each([
    ['ms', at, '2026-03-01T10:00:00.000Z'],
    ['s', at / 1_000, '2026-03-01T10:00:00.000Z'],
    ['us', at * 1_000, '2026-03-01T10:00:00.000Z'],
    ['ms', String(at), '2026-03-01T10:00:00.000Z'],
    ['ms', '2026-03-01T11:00:00+01:00', '2026-03-01T11:00:00+01:00'],
  ])('%s %j', (unit, when, expected) => {
    const value = { ...(record().value as object), when };
    expect(sentOf({ timestamp: { value: 'when', unit } }, record({ value }))).toMatchObject({
      timestamp: expected,
    });
  });

  test.each([[1e17], [true], [{}], [NaN]])('%j is a problem that names the place', (when) => {
    const value = { ...(record().value as object), when };
    expect(sentOf({ timestamp: { value: 'when' } }, record({ value }))).toMatchObject({
      problem: expect.stringContaining('when in the value'),
    });
  });

  test('a record without a time gives an event of the time of receipt', () => {
    expect(sentOf({}, record({ timestamp: -1 }))).not.toHaveProperty('timestamp');
  });
});

test('metadata is an object of the record, or is put together', () => {
  expect(sentOf({ metadata: { value: 'who' } })).toMatchObject({
    metadata: { email: 'ada@example.com', id: 17 },
  });
  expect(sentOf({ metadata: { value: 'nothing' } })).not.toHaveProperty('metadata');
  expect(
    sentOf({
      metadata: { fields: { customer: { value: 'who.id' }, gone: { value: 'x' }, by: { key: '' } } },
    }),
  ).toMatchObject({ metadata: { customer: 17, by: 'u-17' } });
});

test('a unit that the record should name and does not is a problem, not another unit', () => {
  const withUnit = mapping({ ...usual, ou_id: { header: 'unit' } });
  expect(mapRecord(withUnit, record({ headers: { unit: 'x' } }))).toMatchObject({ ouId: 'x' });
  expect(mapRecord(withUnit, record())).toEqual({
    problem: 'ou_id: the record has nothing at the header unit',
  });
});

test('a key that cannot be decoded matters only where the mapping names it', () => {
  const from = record({ key: () => ({ problem: 'is not UTF-8' }) });
  expect(sentOf({}, from)).toHaveProperty('alias');
  expect(sentOf({ alias: { key: '' } }, from)).toEqual({ problem: 'the key is not UTF-8' });
});

test('a number that is not exact is refused as a name', () => {
  const value = { who: { email: 2 ** 60 }, what: 'View' };
  expect(sentOf({}, record({ value }))).toEqual({
    problem: 'alias: the number at who.email in the value is too large to be exact; send a text',
  });
});

describe('laws', () => {
  const anyMapping = mapping({
    ...usual,
    alias: { value: 'a' },
    event_type: { value: 'b' },
    timestamp: { value: 'c' },
    event_id: { value: 'd' },
    metadata: { value: '' },
  });

  test('whatever a record holds, it gives an event that is checked, or a problem; and the same each time', () => {
    const field = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('ada@example.com', 'View', at, 1e300, '2026-01-01'),
    );
    fc.assert(
      fc.property(fc.record({ a: field, b: field, c: field, d: field }, { requiredKeys: [] }), (value) => {
        const mapped = mapRecord(anyMapping, record({ value }));
        expect(mapRecord(anyMapping, record({ value }))).toEqual(mapped);
        if ('problem' in mapped) return;
        const context = {
          ouId: '7b0c2c5e-0d7a-4a53-9a8e-2f4f9f0f7a11',
          receivedAt: '2026-03-01T10:00:01.000Z',
          repeatableBatchId: null,
        };
        const { events, rejected } = validateEvents([mapped], context);
        expect(events.length + rejected.length).toBe(1);
        // What may be read again is recognised: it has an id of its own.
        for (const event of events) expect(event.may_repeat).toBe(true);
      }),
    );
  });

  test('two records have the same id only where place and time are the same', () => {
    const idOf = recordIds('shop', 'orders');
    const place = fc.tuple(
      fc.integer({ min: 0, max: 20 }),
      fc.bigInt({ min: 0n, max: 50n }),
      fc.integer({ min: -1, max: 50 }),
    );
    fc.assert(
      fc.property(place, place, (one, other) => {
        expect(idOf(...one) === idOf(...other)).toBe(one.every((part, index) => part === other[index]));
      }),
    );
  });

  test('no id is longer than an event_id may be', () => {
    const idOf = recordIds('s'.repeat(40), 't'.repeat(249));
    expect(idOf(2_147_483_647, 9_223_372_036_854_775_807n, 8.64e15).length).toBeLessThanOrEqual(128);
  });
});
