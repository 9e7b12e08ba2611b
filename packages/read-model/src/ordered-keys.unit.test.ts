// The byte format of ordered keys, their order, and decoding.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Binary } from 'mongodb';
import {
  bytesOf,
  hexOf,
  keysWithin,
  offsetBytes,
  orderedKey,
  readOffset,
  readUuid,
  uuidBytes,
  writeOffset,
  writeUuid,
} from './ordered-keys.js';

const uuid = fc.uuid();
const offset = fc.maxSafeNat();
const order = (a: Binary, b: Binary) => Math.sign(Buffer.compare(bytesOf(a), bytesOf(b)));

describe('an ordered key', () => {
  test('has the bytes of its UUIDs, then its offset, big-endian', () => {
    expect(hexOf(orderedKey(['00112233-4455-6677-8899-aabbccddeeff']))).toBe(
      '00112233445566778899aabbccddeeff',
    );
    expect(hexOf(orderedKey(['00112233-4455-6677-8899-AABBCCDDEEFF'], 2 ** 40 + 1))).toBe(
      '00112233445566778899aabbccddeeff0000010000000001',
    );
    fc.assert(
      fc.property(fc.array(uuid, { maxLength: 4 }), offset, (uuids, at) => {
        const expected = uuids.join('').replaceAll('-', '');
        expect(hexOf(orderedKey(uuids))).toBe(expected);
        expect(hexOf(orderedKey(uuids, at))).toBe(expected + at.toString(16).padStart(16, '0'));
        expect(orderedKey(uuids, at).sub_type).toBe(0);
      }),
    );
  });

  test('sorts by its UUIDs, then by its offset', () => {
    fc.assert(
      fc.property(uuid, uuid, offset, offset, (one, other, a, b) => {
        expect(order(orderedKey([one], a), orderedKey([one], b))).toBe(Math.sign(a - b));
        if (one !== other)
          expect(order(orderedKey([one], a), orderedKey([other], b))).toBe(one < other ? -1 : 1);
      }),
    );
  });

  test('lies in the range of its own prefix only', () => {
    fc.assert(
      fc.property(uuid, uuid, uuid, offset, (owner, other, id, at) => {
        const within = (of: string, key: Binary, rest: number) => {
          const { $gte, $lte } = keysWithin([of], rest);
          return order($gte, key) <= 0 && order(key, $lte) <= 0;
        };
        for (const [key, rest] of [
          [orderedKey([owner], at), offsetBytes],
          [orderedKey([owner, id]), uuidBytes],
          [orderedKey([owner, id], at), uuidBytes + offsetBytes],
        ] as const) {
          expect(within(owner, key, rest)).toBe(true);
          expect(within(other, key, rest)).toBe(other === owner);
        }
      }),
    );
  });
});

test('UUIDs in either case and offsets are read back from any index, and no other bytes change', () => {
  fc.assert(
    fc.property(uuid, fc.boolean(), offset, fc.nat(20), (id, upper, at, place) => {
      const bytes = Buffer.alloc(place + uuidBytes + offsetBytes + 3, 0x5a);
      writeUuid(bytes, place, upper ? id.toUpperCase() : id);
      writeOffset(bytes, place + uuidBytes, at);
      expect(readUuid(bytes, place)).toBe(id);
      expect(readOffset(bytes, place + uuidBytes)).toBe(at);
      const rest = Buffer.concat([bytes.subarray(0, place), bytes.subarray(-3)]);
      expect(rest.every((byte) => byte === 0x5a)).toBe(true);
    }),
  );
});

test('bytesOf returns only the value’s bytes of a larger buffer', () => {
  const binary = new Binary(Buffer.from([0, 1, 2, 3, 4, 5]).subarray(2, 5), 0);
  expect(hexOf(binary)).toBe('020304');
});
