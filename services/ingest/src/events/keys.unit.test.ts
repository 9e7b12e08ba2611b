// Keys sort in the order of their parts, and can be read back.
import { describe, expect, test } from '@jest/globals';
import { Binary, bytesOf } from '@lead-scoring/read-model';
import fc from 'fast-check';
import {
  eventAtPlace,
  isPlaceOf,
  knownEventId,
  leadBytesOf,
  placeOf,
  readKnownEventId,
  readRecordOffset,
  readSecondKey,
  recordId,
  recordIdsOf,
  secondKey,
  secondsBetween,
  timeOfPlace,
} from './keys.js';

const uuid = fc.uuid();
const offset = fc.maxSafeNat();
const index = fc.nat(4_999);
const time = fc.integer({
  min: Date.UTC(0, 0, 1) - 62_135_596_800_000 - 86_400_000,
  max: Date.UTC(9999, 11, 31),
});
const second = time.map((ms) => Math.floor(ms / 1_000));
const order = (a: Binary, b: Binary) => Buffer.compare(bytesOf(a), bytesOf(b));

describe('keys', () => {
  test('a record key can be read back, sorts by offset, and is only in the range of its lead', () => {
    fc.assert(
      fc.property(uuid, uuid, offset, offset, (lead, other, at, later) => {
        const key = recordId(lead, at);
        expect(readRecordOffset(key)).toBe(at);
        expect(Math.sign(order(key, recordId(lead, later)))).toBe(Math.sign(at - later));
        const { $gte, $lte } = recordIdsOf(lead);
        expect(order($gte, key) <= 0 && order(key, $lte) <= 0).toBe(true);
        if (other === lead) return;
        const range = recordIdsOf(other);
        expect(order(range.$gte, key) <= 0 && order(key, range.$lte) <= 0).toBe(false);
      }),
    );
  });

  test('the key of an event that may come again can be read back', () => {
    fc.assert(
      fc.property(uuid, uuid, (lead, event) => {
        expect(readKnownEventId(knownEventId(lead, event))).toEqual({ lead_id: lead, id: event });
      }),
    );
  });

  test('places sort by time, also before 1970 and far in the future, and name their event', () => {
    fc.assert(
      fc.property(uuid, uuid, offset, index, time, time, (ou, lead, at, of, a, b) => {
        const record = recordId(lead, at);
        const place = (timestampMs: number) =>
          placeOf(ou, { leadBytes: leadBytesOf(record), offset: at, timestampMs, index: of });
        expect(Math.sign(order(place(a), place(b)))).toBe(Math.sign(a - b));
        expect(timeOfPlace(place(a))).toBe(a);
        const found = eventAtPlace(place(a));
        expect(order(found.record, record)).toBe(0);
        expect(found.index).toBe(of);
      }),
    );
  });

  test('a range of seconds includes its start and excludes its end', () => {
    fc.assert(
      fc.property(uuid, second, second, second, offset, (ou, at, a, b, block) => {
        const place = { second: at, partition: 3, block: block % 2 ** 47, part: 7 };
        const key = secondKey({ ouId: ou, ...place });
        expect(readSecondKey(key)).toEqual(place);
        const within = (from: number | null, to: number | null) => {
          const { $gte, $lt } = secondsBetween(ou, from, to);
          return order($gte, key) <= 0 && order(key, $lt) < 0;
        };
        expect(within(null, null)).toBe(true);
        expect(within(a, b)).toBe(at >= a && at < b);
        expect(within(a, null)).toBe(at >= a);
        expect(within(null, b)).toBe(at < b);
      }),
    );
  });

  test('a cursor of another OU, or any other bytes, is not accepted as a place', () => {
    fc.assert(
      fc.property(uuid, uuid, fc.uint8Array({ maxLength: 80 }), (ou, other, bytes) => {
        const place = placeOf(ou, {
          leadBytes: leadBytesOf(recordId(ou, 0)),
          offset: 0,
          timestampMs: 0,
          index: 0,
        });
        expect(isPlaceOf(ou, place)).toBe(true);
        expect(isPlaceOf(other, place)).toBe(other === ou);
        expect(isPlaceOf(ou, new Binary(Buffer.from(bytes), 0))).toBe(false);
      }),
    );
  });
});
