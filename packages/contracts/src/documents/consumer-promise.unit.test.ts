// Consumers of the public topics that were written for the last release go on working.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { brokenPromises, publicRecords, type ReleasedRecords } from './consumer-promise.js';
import type { JsonSchema } from './json-schemas.js';

const released = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../released-schemas.json'), 'utf8'),
) as ReleasedRecords;

test('no promise to consumers of the last release is broken', () => {
  expect(Object.keys(released.records).length).toBeGreaterThan(100);
  expect(brokenPromises(released.records, publicRecords())).toEqual([]);
});

const record = (properties: JsonSchema, required: string[], key = 'lead_id') => ({
  'scoring.events/LeadScored': {
    key,
    schema: { type: 'object', properties, required, additionalProperties: false },
  },
});
const score = { type: 'integer', minimum: 0, maximum: 100 };
const base = record({ score, kind: { type: 'string', enum: ['a', 'b'] }, at: { type: 'string' } }, [
  'score',
  'kind',
]);

describe('what may change in a public record', () => {
  test.each<[string, ReleasedRecords['records'], ReleasedRecords['records']]>([
    ['nothing', base, base],
    ['a further type of record', base, { ...base, 'scoring.events/Later': { key: 'ou_id', schema: {} } }],
    [
      'a further field',
      record({ score }, ['score']),
      record({ score, more: { type: 'string' } }, ['score', 'more']),
    ],
    [
      'a further field within a field',
      record({ deal: { type: 'object', properties: { id: score }, additionalProperties: false } }, []),
      record(
        {
          deal: {
            type: 'object',
            properties: { id: score, name: { type: 'string' } },
            additionalProperties: false,
          },
        },
        [],
      ),
    ],
    ['a field that is now always there', record({ score }, []), record({ score }, ['score'])],
    [
      'a limit that rises',
      record({ score }, ['score']),
      record({ score: { ...score, maximum: 200 } }, ['score']),
    ],
    [
      'a value that a list gets',
      record({ kind: { enum: ['a'] } }, ['kind']),
      record({ kind: { type: 'string', enum: ['a', 'b'] } }, ['kind']),
    ],
    [
      'a fixed value that becomes a list',
      record({ kind: { const: 'a', type: 'string' } }, ['kind']),
      record({ kind: { type: 'string', enum: ['a', 'b'] } }, ['kind']),
    ],
  ])('%s', (_, before, after) => {
    expect(brokenPromises(before, after)).toEqual([]);
  });
});

describe('what may not', () => {
  test.each<[string, ReleasedRecords['records'], ReleasedRecords['records']]>([
    ['a type of record goes', base, {}],
    ['another key', base, record({ score }, ['score'], 'ou_id')],
    ['a field that was always there may be absent', record({ score }, ['score']), record({ score }, [])],
    ['a field that was always there goes', record({ score }, ['score']), record({}, [])],
    [
      'a number may have a fraction',
      record({ score }, ['score']),
      record({ score: { type: 'number' } }, ['score']),
    ],
    [
      'a field may be null',
      record({ score }, ['score']),
      record({ score: { anyOf: [score, { type: 'null' }] } }, ['score']),
    ],
    [
      'a list gets a value of another type',
      record({ kind: { enum: ['a'] } }, ['kind']),
      record({ kind: { enum: ['a', null] } }, ['kind']),
    ],
    [
      'a field that was one value becomes several',
      record({ score }, ['score']),
      record({ score: { type: 'array', items: score } }, ['score']),
    ],
    [
      'a text loses its form',
      record({ at: { type: 'string', format: 'date-time' } }, ['at']),
      record({ at: { type: 'string' } }, ['at']),
    ],
    [
      'a field within a list may be absent',
      record(
        { all: { type: 'array', items: { type: 'object', properties: { score }, required: ['score'] } } },
        [],
      ),
      record({ all: { type: 'array', items: { type: 'object', properties: { score } } } }, []),
    ],
  ])('%s', (_, before, after) => {
    expect(brokenPromises(before, after)).not.toEqual([]);
  });
});
