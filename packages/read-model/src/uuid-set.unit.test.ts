// A set of UUIDs has what a set of their texts has, wherever the bytes of a UUID are.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { uuidBytes, writeUuid } from './ordered-keys.js';
import { UuidSet } from './uuid-set.js';

/** Many are for the same slot. */
const uuid = fc
  .tuple(fc.constantFrom('00000000', 'ffffffff', '12345678'), fc.nat(3))
  .map(([first, last]) => `${first}-0000-4000-8000-00000000000${String(last)}`);

function bytesOf(text: string, place: number): Buffer {
  const bytes = Buffer.alloc(place + uuidBytes + 3, 7);
  writeUuid(bytes, place, text);
  return bytes;
}

test('has each UUID that was added, and no other', () => {
  fc.assert(
    fc.property(fc.array(uuid), uuid, fc.nat(20), (added, asked, place) => {
      const set = new UuidSet();
      for (const one of added) set.add(bytesOf(one, place), place);
      expect(set.size).toBe(new Set(added).size);
      expect(set.has(bytesOf(asked, place), place)).toBe(added.includes(asked));
    }),
  );
});

test('grows to many UUIDs', () => {
  const set = new UuidSet();
  const bytesAt = (number: number) => {
    const bytes = Buffer.alloc(uuidBytes);
    bytes.writeUInt32BE(number, number % 4 === 0 ? 0 : 12);
    return bytes;
  };
  for (let number = 1; number <= 20_000; number += 1) set.add(bytesAt(number), 0);
  expect(set.size).toBe(20_000);
  for (let number = 1; number <= 20_000; number += 1) expect(set.has(bytesAt(number), 0)).toBe(true);
  for (let number = 20_001; number <= 40_000; number += 1) expect(set.has(bytesAt(number), 0)).toBe(false);
});

test('the UUID of zeros is in no set', () => {
  const set = new UuidSet();
  expect(set.has(Buffer.alloc(uuidBytes), 0)).toBe(false);
  expect(() => {
    set.add(Buffer.alloc(uuidBytes), 0);
  }).toThrow(RangeError);
});
