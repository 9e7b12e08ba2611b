// Record schemas only change in ways that let every record ever written be read.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { recordDeclarations } from '../records/index.js';
import { incompatibilities } from './compatibility.js';
import { jsonSchemaOf, type JsonSchema } from './json-schemas.js';

const committed = join(import.meta.dirname, '../../schemas');
const committedSchema = (topic: string, type: string) =>
  JSON.parse(readFileSync(join(committed, topic, `${type}.json`), 'utf8')) as JsonSchema;

describe('declared records against the committed schemas', () => {
  test.each(recordDeclarations.map((record) => [record.topic, record.type, record] as const))(
    '%s %s can read what was written before',
    (topic, type, record) => {
      expect(incompatibilities(committedSchema(topic, type), jsonSchemaOf(record))).toEqual([]);
    },
  );

  test.each(recordDeclarations.map((record) => [record.topic, record.type, record] as const))(
    '%s %s is committed as it is declared (npm run refresh-schemas)',
    (topic, type, record) => {
      expect(committedSchema(topic, type)).toEqual(JSON.parse(JSON.stringify(jsonSchemaOf(record))));
    },
  );

  test('no record type that was once written has gone', () => {
    const known = readdirSync(committed).flatMap((topic) =>
      readdirSync(join(committed, topic)).map((file) => `${topic}/${file.replace(/\.json$/, '')}`),
    );
    const declared = new Set(recordDeclarations.map((record) => `${record.topic}/${record.type}`));
    expect(known.filter((record) => !declared.has(record))).toEqual([]);
  });
});

const closed = (properties: JsonSchema, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

describe('a change that loses nothing is compatible', () => {
  test.each<[string, JsonSchema, JsonSchema]>([
    [
      'a new optional property',
      closed({ a: { type: 'string' } }),
      closed({ a: { type: 'string' }, b: { type: 'string' } }),
    ],
    ['a property that need not be there any more', closed({ a: {} }, ['a']), closed({ a: {} })],
    ['a wider type', { type: 'integer' }, { type: 'number' }],
    ['null as well', { type: 'string' }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['one more value', { enum: ['a'] }, { enum: ['a', 'b'] }],
    [
      'a constant that became a list with it',
      { const: 'a', type: 'string' },
      { enum: ['a', 'b'], type: 'string' },
    ],
    ['a wider limit', { type: 'string', maxLength: 5 }, { type: 'string', maxLength: 6 }],
    ['a limit that is gone', { type: 'array', maxItems: 5 }, { type: 'array' }],
    ['a pattern that is gone', { type: 'string', pattern: '^a' }, { type: 'string' }],
    ['another description', { type: 'string', description: 'a' }, { type: 'string', description: 'b' }],
    [
      'one more alternative',
      { anyOf: [{ type: 'string' }] },
      { anyOf: [{ type: 'number' }, { type: 'string' }] },
    ],
    [
      'a schema that was given a name',
      { type: 'string' },
      { $ref: '#/definitions/A', definitions: { A: { type: 'string' } } },
    ],
    ['an open object in place of a closed one', closed({ a: {} }), { type: 'object', properties: { a: {} } }],
  ])('%s', (_, before, after) => {
    expect(incompatibilities(before, after)).toEqual([]);
  });
});

describe('a change that could refuse an old record is found', () => {
  test.each<[string, JsonSchema, JsonSchema]>([
    ['a new required property', closed({}), closed({ a: {} }, ['a'])],
    ['a property that was optional and is required', closed({ a: {} }), closed({ a: {} }, ['a'])],
    ['a property that is gone from a closed object', closed({ a: {}, b: {} }), closed({ a: {} })],
    ['an object that is closed', { type: 'object' }, closed({})],
    [
      'a new property where anything could be',
      { type: 'object' },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    ['a narrower type', { type: 'number' }, { type: 'integer' }],
    ['a value fewer', { enum: ['a', 'b'] }, { enum: ['a'] }],
    ['values where there were none', { type: 'string' }, { type: 'string', enum: ['a'] }],
    ['a narrower limit', { type: 'string', maxLength: 5 }, { type: 'string', maxLength: 4 }],
    ['a limit where there was none', { type: 'integer' }, { type: 'integer', minimum: 0 }],
    ['another pattern', { type: 'string', pattern: '^a' }, { type: 'string', pattern: '^b' }],
    ['a pattern where there was none', { type: 'string' }, { type: 'string', pattern: '^b' }],
    ['an alternative fewer', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string' }],
    [
      'a narrower item',
      { type: 'array', items: { type: 'number' } },
      { type: 'array', items: { type: 'integer' } },
    ],
    [
      'a narrower property within an alternative',
      { oneOf: [closed({ a: { type: 'string', maxLength: 9 } })] },
      { oneOf: [closed({ a: { type: 'string', maxLength: 3 } })] },
    ],
    [
      'a narrower schema behind a reference',
      { $ref: '#/definitions/A', definitions: { A: { type: 'number' } } },
      { $ref: '#/definitions/A', definitions: { A: { type: 'integer' } } },
    ],
    ['uniqueness that was not asked for', { type: 'array' }, { type: 'array', uniqueItems: true }],
  ])('%s', (_, before, after) => {
    expect(incompatibilities(before, after)).not.toEqual([]);
  });
});
