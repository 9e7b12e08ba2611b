// A map of UUIDs has what a map of their texts has, wherever the bytes of a UUID are.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeUuid } from './ordered-keys.js';
import { UuidMap } from './uuid-map.js';

/** Many share their first four bytes. */
const uuid = fc
  .tuple(fc.constantFrom('00000000', 'ffffffff', '12345678'), fc.nat(3))
  .map(([first, last]) => `${first}-0000-4000-8000-00000000000${String(last)}`);

test('finds each UUID by its bytes, and no other', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(uuid, fc.nat())), uuid, fc.nat(20), (entries, asked, place) => {
      const known = new Map(entries);
      const bytes = Buffer.alloc(place + 16 + 3, 7);
      writeUuid(bytes, place, asked);
      expect(new UuidMap(known).at(bytes, place)).toBe(known.get(asked));
    }),
  );
});
