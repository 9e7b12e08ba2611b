// Keys are in the order that they stand for, and read back.
import { describe, expect, test } from '@jest/globals';
import { Binary } from '@lead-scoring/read-model';
import fc from 'fast-check';
import {
  bytesOf,
  eventAtPlace,
  isPlaceOf,
  keysOfLead,
  placeId,
  placesBetween,
  readStoredEventId,
  storedEventId,
  storedEventIdsOf,
  timeAtPlace,
} from './keys.js';

const uuid = fc.uuid();
const time = fc.integer({
  min: Date.UTC(0, 0, 1) - 62_135_596_800_000 - 86_400_000,
  max: Date.UTC(9999, 11, 31),
});
const order = (a: Binary, b: Binary) => Buffer.compare(bytesOf(a), bytesOf(b));

describe('keys', () => {
  test('an event key reads back, and lies in the range of its lead alone', () => {
    fc.assert(
      fc.property(uuid, uuid, uuid, (lead, other, event) => {
        const key = storedEventId(lead, event);
        expect(readStoredEventId(key)).toEqual({ lead_id: lead, id: event });
        const { $gte, $lte } = storedEventIdsOf(lead);
        expect(order($gte, key) <= 0 && order(key, $lte) <= 0).toBe(true);
        if (other === lead) return;
        const range = storedEventIdsOf(other);
        expect(order(range.$gte, key) <= 0 && order(key, range.$lte) <= 0).toBe(false);
      }),
    );
  });

  test('places are in order of time, years before 1970 and far ahead included', () => {
    fc.assert(
      fc.property(uuid, uuid, uuid, time, time, (ou, lead, event, a, b) => {
        const id = storedEventId(lead, event);
        expect(Math.sign(order(placeId(ou, a, id), placeId(ou, b, id)))).toBe(Math.sign(a - b));
        expect(timeAtPlace(placeId(ou, a, id)).getTime()).toBe(a);
        expect(order(eventAtPlace(placeId(ou, a, id)), id)).toBe(0);
      }),
    );
  });

  test('keys of many events of a lead are as keys of each', () => {
    fc.assert(
      fc.property(uuid, uuid, uuid, time, (ou, lead, event, at) => {
        const { event: key, place } = keysOfLead(ou, lead)(event, at);
        expect(order(key, storedEventId(lead, event))).toBe(0);
        expect(order(place, placeId(ou, at, key))).toBe(0);
      }),
    );
  });

  test('a range of places holds the times from its start up to, not including, its end', () => {
    fc.assert(
      fc.property(uuid, uuid, uuid, time, time, time, (ou, lead, event, at, a, b) => {
        const place = placeId(ou, at, storedEventId(lead, event));
        const within = (from: number | null, to: number | null) => {
          const { $gte, $lt } = placesBetween(ou, from, to);
          return order($gte, place) <= 0 && order(place, $lt) < 0;
        };
        expect(within(null, null)).toBe(true);
        expect(within(a, b)).toBe(at >= a && at < b);
        expect(within(a, null)).toBe(at >= a);
        expect(within(null, b)).toBe(at < b);
      }),
    );
  });

  test('a cursor of another OU, or of anything else, is not taken for a place', () => {
    fc.assert(
      fc.property(uuid, uuid, fc.uint8Array({ maxLength: 80 }), (ou, other, bytes) => {
        const place = placeId(ou, 0, storedEventId(ou, ou));
        expect(isPlaceOf(ou, place)).toBe(true);
        expect(isPlaceOf(other, place)).toBe(other === ou);
        expect(isPlaceOf(ou, new Binary(Buffer.from(bytes), 0))).toBe(false);
      }),
    );
  });
});
