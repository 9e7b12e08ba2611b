// The hand-written validation accepts and refuses exactly what the declared schema does, and normalises in the same
// way.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { leadIdOf, namedEventIdOf } from '../vocabulary/identity.js';
import { ingestEvents } from '../records/ingest.js';
import { ingestedEvent, intakeLimits } from '../routes/intake.js';
import { eventsOfCsvRows } from './csv-events.js';
import { eventsOfJson, eventsOfNdjson, type SentEvent } from './sent-events.js';
import { validateEvents, type IntakeContext } from './validate.js';

const ouId = '11111111-1111-4111-8111-111111111111';
const context: IntakeContext = { ouId, receivedAt: '2026-01-31T09:30:00.000Z', repeatableBatchId: null };
const visit = { alias_kind: 'email', alias: 'ada@example.com', event_type: 'Page View' };

function listed(events: ReturnType<typeof eventsOfJson>): SentEvent[] {
  if (!Array.isArray(events)) throw new Error(JSON.stringify(events));
  return events;
}
const validated = (body: unknown, given: Partial<IntakeContext> = {}) =>
  validateEvents(listed(eventsOfJson(body)), { ...context, ...given });
const errorsOf = (event: unknown) => validated([event]).rejected[0]?.errors;

const odd = fc.constantFrom<unknown>(
  ...[undefined, null, '', ' ', 0, 1, true, [], {}, 'x', 'x'.repeat(101), 'x'.repeat(129), 'x'.repeat(513)],
  ...[
    'a\u0000b',
    '\ud800',
    'Ada@Example.com',
    ' a@b ',
    '+49 151 23456',
    'email',
    'phone',
    'E-Mail',
    'x'.repeat(33),
  ],
  ...[
    '2026-02-30T00:00:00Z',
    '2026-01-31',
    '2026-01-31T09:30:00Z',
    '2026-01-31T09:30Z',
    '2026-01-31T09:30:00.123456+05:30',
  ],
  ...['2026-01-31T24:00:00Z', '2026-01-31T09:30:00', '0000-01-01T00:00:00+01:00', '2024-02-29T00:00:00.000Z'],
  ...[
    '2023-02-29T00:00:00.000Z',
    '2026-00-01T00:00:00.000Z',
    '2026-01-00T00:00:00.000Z',
    '\u00a0',
    '\u0085',
    '\ufeff',
  ],
);
const mostly = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: odd });
const kind = fc.constantFrom('email', 'phone', 'external_id');
const aliasText = fc.oneof(fc.emailAddress(), fc.string(), odd);
const sentAlias = fc.oneof(
  fc.record({ alias_kind: fc.constant('email'), alias: mostly(fc.emailAddress()) }),
  fc.record({ alias_kind: mostly(fc.constant('external_id')), alias: mostly(fc.string()) }),
  fc.record({ alias_kind: mostly(kind), alias: aliasText, extra: odd }, { requiredKeys: [] }),
);
const sentAliases = fc.record({ aliases: mostly(fc.array(sentAlias, { minLength: 1, maxLength: 11 })) });
const otherFields = fc.record(
  {
    event_type: mostly(fc.constant('Page View')),
    timestamp: mostly(
      fc
        .date({ min: new Date('1900-01-01'), max: new Date('2026-01-31'), noInvalidDate: true })
        .map((date) => date.toISOString()),
    ),
    event_id: mostly(fc.string({ minLength: 1 })),
    metadata: mostly(fc.dictionary(fc.string(), fc.jsonValue())),
  },
  { requiredKeys: ['event_type'] },
);
const nothing = fc.constant({});
const sentEvent = fc
  .tuple(
    fc.oneof(sentAlias, sentAliases),
    fc.oneof({ weight: 20, arbitrary: nothing }, { weight: 1, arbitrary: fc.oneof(sentAliases, sentAlias) }),
    fc.oneof({ weight: 20, arbitrary: otherFields }, { weight: 1, arbitrary: nothing }),
    fc.oneof(
      { weight: 20, arbitrary: nothing },
      { weight: 1, arbitrary: fc.dictionary(fc.string(), fc.jsonValue()) },
    ),
  )
  .map((parts): Record<string, unknown> => Object.assign({}, ...parts) as Record<string, unknown>);
/** The value after a round trip through JSON text, which drops undefined fields. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

test('an event is taken exactly when the declared schema takes it', () => {
  let taken = 0;
  fc.assert(
    fc.property(sentEvent, (event) => {
      const sent = asJson(event);
      const { events, rejected } = validated([sent]);
      taken += events.length;
      expect([sent, rejected.length === 0]).toEqual([sent, ingestedEvent.safeParse(sent).success]);
    }),
    { numRuns: 2_000 },
  );
  expect(taken).toBeGreaterThan(100);
});

test('a name that shows nothing is empty to both, whichever white space it is made of', () => {
  for (let code = 0; code < 0x10000; code += 1) {
    const sent = { alias_kind: 'email', alias: 'ada@example.com', event_type: String.fromCharCode(code) };
    if ((validated([sent]).rejected.length === 0) !== ingestedEvent.safeParse(sent).success)
      throw new Error(`U+${code.toString(16)} is judged differently`);
  }
});

test('what is taken fits the record that carries it', () => {
  fc.assert(
    fc.property(fc.array(sentEvent, { minLength: 1, maxLength: 5 }), (sent) => {
      const { events } = validated(asJson(sent));
      if (events.length === 0) return;
      const chunk = {
        ou_id: ouId,
        batch_id: ouId,
        source: 'ingest',
        fire_triggers: true,
        received_at: context.receivedAt,
        events,
      };
      expect(ingestEvents.schema.safeParse(chunk).error?.issues).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});

test('validating what was normalised changes nothing', () => {
  fc.assert(
    fc.property(sentEvent, (sent) => {
      const [first] = validated([asJson(sent)]).events;
      if (!first) return;
      const { aliases, event_type, timestamp, event_id, metadata: kept } = first;
      const [second] = validated([
        asJson({ aliases, event_type, timestamp, event_id, metadata: kept }),
      ]).events;
      expect({ ...second, id: '' }).toEqual({ ...first, id: '' });
    }),
    { numRuns: 1_000 },
  );
});

describe('a body is', () => {
  test('one event, an array, or {events}', () => {
    for (const body of [visit, [visit], { events: [visit] }]) expect(validated(body).events).toHaveLength(1);
  });

  test.each([[null], ['x'], [1], [[]], [{ events: [] }], [{ events: {} }], [{ events: [visit], other: 1 }]])(
    'not %j',
    (body) => {
      expect(eventsOfJson(body)).toMatchObject({ code: 'invalid_request' });
    },
  );

  test('at most 5,000 events', () => {
    expect(eventsOfJson(Array.from({ length: intakeLimits.events }, () => visit))).toHaveLength(
      intakeLimits.events,
    );
    expect(eventsOfJson(Array.from({ length: intakeLimits.events + 1 }, () => visit))).toMatchObject({
      code: 'invalid_request',
    });
  });

  test('at most 10,000 links of aliases in all of its events, each counted once; what links none is taken', () => {
    const named = (lead: number, further: number) => ({
      event_type: 'x',
      aliases: Array.from({ length: 1 + further }, (_, index) => ({
        alias_kind: 'external_id',
        alias: index === 0 ? `lead ${String(lead)}` : String(index),
      })),
    });
    // The maximum number of links, all of them again, one more link, and none.
    const most = Array.from({ length: 2_000 }, (_, lead) => named(lead, 5));
    const { events, rejected } = validated([...most, ...most, named(2_000, 1), named(2_000, 0)]);
    expect(events).toHaveLength(4_001);
    expect(rejected).toEqual([
      { index: 4_000, errors: [{ path: 'aliases', message: expect.stringContaining('10000') as unknown }] },
    ]);
  });

  test('NDJSON: one event a line, blank lines for nothing, a broken line for one rejected event', () => {
    const lines = `${JSON.stringify(visit)}\r\n\n{"alias\n${JSON.stringify(visit)}`;
    const result = validateEvents(listed(eventsOfNdjson(lines)), context);
    expect(result.events).toHaveLength(2);
    expect(result.rejected).toEqual([
      { index: 1, errors: [{ path: '', message: 'must be one JSON object on one line' }] },
    ]);
    expect(eventsOfNdjson('\n \n')).toMatchObject({ code: 'invalid_request' });
    expect(eventsOfNdjson(`${JSON.stringify(visit)}\n`.repeat(intakeLimits.events + 1))).toMatchObject({
      code: 'invalid_request',
    });
  });

  test('CSV: named columns, empty cells for absent fields, metadata by key', () => {
    const rows = [
      ['alias_kind', 'alias', 'event_type', 'timestamp', 'metadata.path', 'metadata.__proto__'],
      ['email', 'ada@example.com', 'Page View', '', '/pricing', 'x'],
      ['email', 'ada@example.com', 'Page View'],
      ['email', 'ada@example.com', 'Page View', '', '', '', 'one too many'],
    ];
    const { events, rejected } = validateEvents(listed(eventsOfCsvRows(rows)), context);
    expect(Object.entries(events[0]?.metadata ?? {})).toEqual([
      ['path', '/pricing'],
      ['__proto__', 'x'],
    ]);
    expect(events[1]).toMatchObject({ timestamp: context.receivedAt });
    expect(events[1]).not.toHaveProperty('metadata');
    expect(rejected.map(({ index }) => index)).toEqual([2]);
    expect(
      eventsOfCsvRows([
        ['alias', 'alias', 'colour'],
        ['a', 'b', 'c'],
      ]),
    ).toMatchObject({
      errors: [{ path: 'alias' }, { path: 'colour' }],
    });
  });
});

describe('ids', () => {
  test('the lead is the one that the first alias names, however the alias is spelt', () => {
    const { events } = validated([{ ...visit, alias: ' ADA@example.com ' }]);
    expect(events[0]?.lead_id).toBe(leadIdOf(ouId, 'email', 'ada@example.com'));
    expect(events[0]?.aliases).toEqual([{ alias_kind: 'email', alias: 'ada@example.com' }]);
  });

  test('an event with an event_id has the same id in every batch and may repeat', () => {
    const { events } = validated([{ ...visit, event_id: '1' }]);
    expect(events[0]).toMatchObject({
      id: namedEventIdOf(ouId, 'email', 'ada@example.com', '1'),
      may_repeat: true,
      event_id: '1',
    });
  });

  test('no two pairs of alias and event_id share an id', () => {
    expect(namedEventIdOf(ouId, 'x', 'a:b', 'c')).not.toBe(namedEventIdOf(ouId, 'x', 'a', 'b:c'));
  });

  test('with an Idempotency-Key the same batch gives the same ids, and events within it different ones', () => {
    const repeatable = { repeatableBatchId: '22222222-2222-4222-8222-222222222222' };
    const ids = validated([visit, visit], repeatable).events.map(({ id, may_repeat }) => ({
      id,
      may_repeat,
    }));
    expect(
      validated([visit, visit], repeatable).events.map(({ id, may_repeat }) => ({ id, may_repeat })),
    ).toEqual(ids);
    expect(new Set(ids.map(({ id }) => id)).size).toBe(2);
    expect(ids.every(({ may_repeat }) => may_repeat)).toBe(true);
  });

  test('without either they are random and cannot repeat', () => {
    const [a, b] = validated([visit, visit]).events;
    expect(a?.id).not.toBe(b?.id);
    expect(a).not.toHaveProperty('may_repeat');
  });
});

describe('times', () => {
  test.each([
    [undefined, '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T10:30:00.123456789+01:00', '2026-01-31T09:30:00.123Z'],
    ['2026-01-31T04:00:00-0530', '2026-01-31T09:30:00.000Z'],
    ['1999-12-31T23:59:59.999Z', '1999-12-31T23:59:59.999Z'],
    ['2026-02-01T09:30:00.000Z', '2026-02-01T09:30:00.000Z'],
  ])('%s is %s', (timestamp, expected) => {
    expect(validated([{ ...visit, timestamp }].map(asJson)).events[0]?.timestamp).toBe(expected);
  });

  test.each(['2026-02-01T09:30:00.001Z', '2026-02-01T10:30:00.001+01:00', '9999-01-01T00:00:00Z'])(
    '%s is more than 24 hours in the future',
    (timestamp) => {
      expect(errorsOf({ ...visit, timestamp })).toEqual([
        { path: 'timestamp', message: 'must be at most 24 hours in the future' },
      ]);
    },
  );
});

describe('what is wrong is said where it is wrong', () => {
  test.each<[string, unknown, string[]]>([
    ['no alias', { event_type: 'x' }, ['alias_kind']],
    ['both forms', { ...visit, aliases: [{ alias_kind: 'x', alias: 'y' }] }, ['aliases']],
    [
      'too many aliases',
      { event_type: 'x', aliases: Array.from({ length: 11 }, () => ({ alias_kind: 'x', alias: 'y' })) },
      ['aliases'],
    ],
    [
      'the second alias',
      {
        event_type: 'x',
        aliases: [
          { alias_kind: 'x', alias: 'y' },
          { alias_kind: 'email', alias: 'y' },
        ],
      },
      ['aliases.1.alias'],
    ],
    [
      'several things',
      { alias_kind: 'E', alias: 'y', event_type: ' ', timestamp: 1, event_id: '', metadata: [], other: 1 },
      ['alias_kind', 'event_type', 'timestamp', 'event_id', 'metadata', 'other'],
    ],
    ['deep in the metadata', { ...visit, metadata: { a: [{ b: 2 ** 60 }] } }, ['metadata.a.0.b']],
    ['no object', 'x', ['']],
  ])('%s', (_, event, paths) => {
    expect(errorsOf(event)?.map(({ path }) => path)).toEqual(paths);
  });

  test('at most 20 errors of an event, with paths of bounded length', () => {
    const event = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`${'k'.repeat(5_000)}${String(index)}`, 1]),
    );
    const errors = errorsOf(event) ?? [];
    expect(errors).toHaveLength(20);
    expect(Math.max(...errors.map(({ path }) => path.length))).toBeLessThanOrEqual(200);
  });

  test('what is missing comes before what is not known, which is asked about where something near it is', () => {
    expect(errorsOf({ kind: 'email', Alias: 'ada@example.com', event_type: 'x', colour: 1 })).toEqual([
      { path: 'alias_kind', message: 'is missing' },
      {
        path: 'kind',
        message: 'is not a known field; did you mean alias_kind? put what is your own into metadata',
      },
      {
        path: 'Alias',
        message: 'is not a known field; did you mean alias? put what is your own into metadata',
      },
      { path: 'colour', message: 'is not a known field; put what is your own into metadata' },
    ]);
  });

  test('keys that a prototype has are unknown fields like any other', () => {
    const event = JSON.parse(
      '{"__proto__":{"alias":"x"},"constructor":1,"alias_kind":"x","event_type":"y"}',
    ) as unknown;
    expect(errorsOf(event)?.map(({ path }) => path)).toEqual(['alias', '__proto__', 'constructor']);
  });

  test('valid events of a batch are listed beside the rejected ones, each with its index', () => {
    const { events, rejected } = validated([visit, { ...visit, alias: '' }, visit]);
    expect([events.length, rejected.map(({ index }) => index)]).toEqual([2, [1]]);
  });
});

test('metadata is taken as it is, whatever its keys', () => {
  const text =
    '{"__proto__":1,"$where":2,"a.b":3,"":4,"_bsontype":5,"\\u0000":6,"constructor":{"prototype":7}}';
  const [event] = validated([{ ...visit, metadata: JSON.parse(text) as unknown }]).events;
  expect(JSON.stringify(event?.metadata)).toBe(text);
});
