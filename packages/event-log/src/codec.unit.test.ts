// Encoding and decoding of payloads, and the problems reported for bytes that are no record.
import { describe, expect, test } from '@jest/globals';
import {
  jsonSchemaOf,
  recordDeclarations,
  records as declarations,
  type RecordDeclaration,
} from '@lead-scoring/contracts';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { createCodec, maxRecordBytes } from './codec.js';
import type { RawRecord } from './kafka/partition-reader.js';
import { subjectOf, type SchemaStore } from './schemas.js';
import { createRuleset, ouId } from './testing/test-support.js';

/** Schemas with the ids 1, 2, … in the order of declaration; no registry. */
function schemaStore(): SchemaStore {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const all = recordDeclarations;
  const schemas = new Map(
    all.map((declaration, index) => [
      declaration,
      { id: index + 1, validate: ajv.compile(jsonSchemaOf(declaration)) },
    ]),
  );
  const own = (declaration: RecordDeclaration) => {
    const found = schemas.get(declaration);
    if (!found) throw new Error('not declared');
    return found;
  };
  return {
    register: () => Promise.resolve(),
    assertRegistered: () => undefined,
    own,
    declarationOf: (topic, type) => all.find((one) => one.topic === topic && one.type === type),
    find: (declaration, id) => (own(declaration).id === id ? own(declaration) : undefined),
    load: () => Promise.resolve(),
    known: () => true,
  };
}

const schemas = schemaStore();
const codec = createCodec(schemas);

function raw(value: Buffer | null, headers: Record<string, string> = {}): RawRecord {
  return {
    offset: 7n,
    timestamp: Date.parse('2026-01-31T09:30:00.000Z'),
    key: Buffer.from('key'),
    value,
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
  };
}

function ingestEvents(metadata: unknown) {
  const id = '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e';
  return {
    ou_id: ouId,
    batch_id: id,
    source: 'ingest' as const,
    fire_triggers: true,
    received_at: '2026-01-31T09:30:00.000Z',
    events: [
      {
        id,
        lead_id: id,
        aliases: [{ alias_kind: 'email', alias: 'a@example.com' }],
        event_type: 'Page View',
        timestamp: '2026-01-31T09:30:00.000Z',
        metadata: metadata as Record<string, never>,
      },
    ],
  };
}

function wire(declaration: RecordDeclaration, json: string): Buffer {
  const value = Buffer.alloc(5 + Buffer.byteLength(json));
  value.writeInt32BE(schemas.own(declaration).id, 1);
  value.write(json, 5);
  return value;
}

const decoded = (value: Buffer | null, type = 'IngestEvents') =>
  codec.decode('ingest.commands', 2, raw(value, { type }));

describe('the codec', () => {
  test('an encoded payload is decoded to the same, with any metadata', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (metadata) => {
        const payload = ingestEvents(metadata);
        const back = decoded(codec.encode(declarations.ingestEvents, payload));
        expect(back).toMatchObject({
          type: 'IngestEvents',
          topic: 'ingest.commands',
          partition: 2,
          offset: 7n,
          key: 'key',
        });
        expect('payload' in back && back.payload).toEqual(JSON.parse(JSON.stringify(payload)));
      }),
    );
  });

  test('hostile keys are kept as they are and do not change any prototype', () => {
    const json = JSON.stringify(ingestEvents({})).replace(
      '"metadata":{}',
      '"metadata":{"__proto__":{"polluted":true},"constructor":1,"_bsontype":"ObjectId","$where":"1","a.b":2,"\\u0000":3}',
    );
    const back = decoded(wire(declarations.ingestEvents, json));
    expect('payload' in back && JSON.stringify(back.payload)).toBe(json);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('a missing id and time are taken from the record’s offset and timestamp', () => {
    const value = codec.encode(declarations.ingestEvents, ingestEvents({}));
    const plain = codec.decode('ingest.commands', 2, raw(value, { type: 'IngestEvents' }));
    expect('headers' in plain && plain.headers).toEqual({
      type: 'IngestEvents',
      id: 'ingest.commands:2:7',
      time: '2026-01-31T09:30:00.000Z',
    });
    const named = codec.decode('ingest.commands', 2, raw(value, { type: 'IngestEvents', id: 'x', ou: ouId }));
    expect('headers' in named && named.headers).toMatchObject({ id: 'x', ou: ouId });
  });

  test('a payload that does not fit its schema is refused before it is written, with the path of the field', () => {
    const { payload } = createRuleset();
    expect(() =>
      codec.encode(declarations.createRuleset, { ...(payload as object), name: 5 } as never),
    ).toThrow(/CreateRuleset.*\/name must be string/);
    expect(() =>
      codec.encode(declarations.createRuleset, { ...(payload as object), more: 1 } as never),
    ).toThrow(/additional properties/);
  });

  test('a payload above 4 MiB is refused before it is written', () => {
    expect(() =>
      codec.encode(declarations.ingestEvents, ingestEvents({ text: 'x'.repeat(maxRecordBytes) })),
    ).toThrow(/divide it/);
  });

  test('a payload nested 100,000 deep is refused or reported as a problem, never thrown as a RangeError', () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const back = decoded(
      wire(
        declarations.ingestEvents,
        JSON.stringify(ingestEvents({})).replace('"metadata":{}', `"metadata":${deep}`),
      ),
    );
    expect('problem' in back || 'payload' in back).toBe(true);
    const nested: unknown = JSON.parse(deep);
    // Which of both depends on the engine: some write any depth.
    const outcomeOf = (encode: () => Buffer) => {
      try {
        return encode().length > deep.length ? 'written' : 'cut';
      } catch (error) {
        return String(error);
      }
    };
    const outcomes = [
      outcomeOf(() => codec.encode(declarations.ingestEvents, ingestEvents(nested))),
      outcomeOf(() =>
        codec.encode(declarations.commandReplied, { outcome: 'done', result: nested as never }),
      ),
    ];
    for (const outcome of outcomes) expect(outcome).toMatch(/^written$|does not fit its schema/);
  });

  test.each([
    ['no value', null, 'IngestEvents', /no value/],
    ['plain JSON', Buffer.from('{}'), 'IngestEvents', /wire format/],
    ['a few bytes', Buffer.from([0, 0, 1]), 'IngestEvents', /wire format/],
    [
      'a type of another topic',
      wire(declarations.createRuleset, '{}'),
      'CreateRuleset',
      /not declared for ingest.commands/,
    ],
    [
      'a schema of another type',
      wire(declarations.linkAlias, '{}'),
      'IngestEvents',
      /is not one of IngestEvents/,
    ],
    ['broken JSON', wire(declarations.ingestEvents, '{"ou_id":'), 'IngestEvents', /cannot be parsed/],
    ['an empty object', wire(declarations.ingestEvents, '{}'), 'IngestEvents', /does not fit its schema/],
  ])('%s is named as the problem', (_, value, type, problem) => {
    const back = decoded(value, type);
    expect('problem' in back && back.problem).toMatch(problem);
  });

  test('decoding throws for no bytes', () => {
    fc.assert(
      fc.property(fc.option(fc.uint8Array()), fc.dictionary(fc.string(), fc.string()), (value, headers) => {
        const back = codec.decode('ingest.commands', 0, raw(value && Buffer.from(value), headers));
        expect('problem' in back).toBe(true);
      }),
    );
    for (const json of ['null', '[]', '1', '""', '{"__proto__":1}'])
      expect('problem' in decoded(wire(declarations.ingestEvents, json))).toBe(true);
  });
});

describe('the schemas', () => {
  test('every declared record has a JSON Schema that compiles, under a subject of its own', () => {
    const all = recordDeclarations;
    expect(new Set(all.map((declaration) => subjectOf('a', declaration))).size).toBe(all.length);
    for (const declaration of all)
      expect(jsonSchemaOf(declaration)).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#' });
  });

  test('metadata is an open object', () => {
    const schema = JSON.stringify(jsonSchemaOf(declarations.ingestEvents));
    expect(schema).toContain('"metadata":{"type":"object","additionalProperties":true}');
  });
});
