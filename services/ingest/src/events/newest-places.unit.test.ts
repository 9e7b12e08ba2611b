// The newest of many places, whatever the order in which they come.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NewestPlaces } from './newest-places.js';

test('law: the newest of all added places are kept, newest first, however they are divided into calls', () => {
  const place = fc.uint8Array({ minLength: 3, maxLength: 3 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(
      fc.array(fc.array(place, { maxLength: 20 })),
      fc.integer({ min: 1, max: 15 }),
      (calls, most) => {
        const newest = new NewestPlaces(most);
        for (const places of calls) newest.add(places);
        const all = calls.flat().sort((left, right) => Buffer.compare(right, left));
        expect(newest.count).toBe(Math.min(most, all.length));
        expect(newest.sorted()).toEqual(all.slice(0, most));
      },
    ),
  );
});
