// Metadata within its limits survives the log and the store unchanged; other metadata is refused with the path.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkMetadata, metadataLimits } from './metadata.js';

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
const at = (metadata: unknown) => checkMetadata(metadata, 'metadata')?.path;

test('what is taken is the same after JSON and back', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (metadata) => {
      const parsed = JSON.parse(JSON.stringify(metadata)) as unknown;
      if (checkMetadata(parsed, 'metadata') === null)
        expect(JSON.parse(JSON.stringify(parsed))).toStrictEqual(parsed);
    }),
  );
});

test('depth, keys and size are taken to the limit and no further', () => {
  expect(at(nested(metadataLimits.depth))).toBeUndefined();
  expect(at(nested(metadataLimits.depth + 1))).toBe(`metadata${'.a'.repeat(metadataLimits.depth)}`);
  expect(at({ a: Array.from({ length: metadataLimits.keys - 1 }, () => 0) })).toBeUndefined();
  expect(at({ a: Array.from({ length: metadataLimits.keys }, () => 0) })).toBe(
    `metadata.a.${String(metadataLimits.keys - 1)}`,
  );
  const around = JSON.stringify({ a: '' }).length;
  expect(at({ a: 'x'.repeat(metadataLimits.bytes - around) })).toBeUndefined();
  expect(at({ a: 'x'.repeat(metadataLimits.bytes - around + 1) })).toBe('metadata');
});

test('size is counted in bytes of JSON, whatever the characters', () => {
  for (const [character, bytes] of [
    ['é', 2],
    ['€', 3],
    ['\u0000', 6],
    ['\ud800', 6],
    ['"', 2],
  ] as const) {
    const fits = Math.floor((metadataLimits.bytes - 8) / bytes);
    expect([character, at({ a: character.repeat(fits) })]).toEqual([character, undefined]);
    expect([character, at({ a: character.repeat(fits + 1) })]).toEqual([character, 'metadata']);
  }
});

test('numbers that do not survive are refused with their place', () => {
  expect(at(JSON.parse('{"a":{"b":[1,1e400]}}'))).toBe('metadata.a.b.1');
  expect(at(JSON.parse('{"a":9007199254740993}'))).toBe('metadata.a');
  expect(at({ a: Number.MAX_SAFE_INTEGER, b: -Number.MAX_SAFE_INTEGER, c: 0.1, d: 5e-324 })).toBeUndefined();
});

test('only an object is metadata', () => {
  for (const value of [null, [], 'x', 1, undefined]) expect(at(value)).toBe('metadata');
});

test('a body nested 100,000 levels deep is refused, not followed', () => {
  expect(at({ a: JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown })).toBeDefined();
});
