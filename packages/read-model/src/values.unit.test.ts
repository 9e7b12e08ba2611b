import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Binary } from 'mongodb';
import type { JsonValue } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  keyOf,
  numberToOffset,
  offsetToNumber,
  packJson,
  unpackJson,
  uuidToBinary,
} from './values.js';

describe('stored ids', () => {
  test('a stored UUID is read back in lower case', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        expect(binaryToUuid(uuidToBinary(id))).toBe(id);
        expect(binaryToUuid(uuidToBinary(id.toUpperCase()))).toBe(id);
        expect(uuidToBinary(id).sub_type).toBe(Binary.SUBTYPE_UUID);
      }),
    );
  });

  test('a text that is not a UUID is refused', () => {
    for (const text of ['', 'x', '0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0', '0b6f8a527a0e5c0b9d8f0b6f8a527a0e'])
      expect(() => uuidToBinary(text)).toThrow(TypeError);
    expect(() => binaryToUuid(new Binary(Buffer.alloc(15)))).toThrow(TypeError);
  });

  test('different ids have different map keys', () => {
    const keys = ['1', 1, uuidToBinary('0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e'), new Date(1), { a: 1 }].map(
      keyOf,
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(keyOf(new Binary(Buffer.from('abc')))).toBe(keyOf(new Binary(Buffer.from('abc'))));
  });
});

describe('stored offsets', () => {
  test('an offset is read back exactly or is refused', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }), (offset) => {
        expect(numberToOffset(offsetToNumber(offset))).toBe(offset);
      }),
    );
    expect(() => offsetToNumber(2n ** 53n)).toThrow('cannot be stored exactly');
  });
});

describe('packed JSON', () => {
  test('any JSON is read back unchanged', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
        const value = JSON.parse(text) as JsonValue;
        expect(packJson(unpackJson(packJson(value)))).toBe(packJson(value));
      }),
    );
  });

  test('keys that BSON cannot hold are kept, and no prototype changes', () => {
    const hostile = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":1,"$where":"x","a.b":1,"":2,"\\u0000":3,"_bsontype":"ObjectId","$ref":1,"x":"\\ud800"}',
    ) as JsonValue;
    const back = unpackJson(packJson(hostile));
    expect(JSON.stringify(back)).toBe(JSON.stringify(hostile));
    expect(Object.keys(back as object)).toContain('__proto__');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    // Lone surrogates are escaped, so the text itself is valid UTF-8.
    expect(packJson(hostile).isWellFormed()).toBe(true);
    expect(packJson(hostile)).not.toContain('\0');
  });
});
