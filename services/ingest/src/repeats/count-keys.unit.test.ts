// Counters of repeats are found by the time when the repeats came.
import { expect, test } from '@jest/globals';
import { bytesOf } from '@lead-scoring/read-model';
import fc from 'fast-check';
import { ouId } from '../testing/builders.js';
import { allTime, countId, countIdsBetween, quarterOf, quarterStart } from './count-keys.js';

const moment = fc.integer({ min: 0, max: 2 ** 43 });
const partition = fc.nat(2 ** 16 - 1);

test('law: a range of quarters holds the counters of its moments in every partition, and no others', () => {
  fc.assert(
    fc.property(moment, moment, moment, partition, (one, other, at, inPartition) => {
      const [from, to] = one < other ? [one, other] : [other, one];
      const { $gte, $lt } = countIdsBetween(ouId, quarterOf(from), quarterOf(to));
      const id = bytesOf(countId(ouId, quarterOf(at), inPartition));
      const isWithin = Buffer.compare(id, bytesOf($gte)) >= 0 && Buffer.compare(id, bytesOf($lt)) < 0;
      expect(isWithin).toBe(quarterOf(at) >= quarterOf(from) && quarterOf(at) <= quarterOf(to));
    }),
  );
});

test('law: a quarter begins at most 15 minutes before its moments, and the counter over all time is none', () => {
  fc.assert(
    fc.property(moment, partition, (at, inPartition) => {
      const start = quarterStart(countId(ouId, quarterOf(at), inPartition));
      expect([start <= at, at - start < 900_000, start % 900_000]).toEqual([true, true, 0]);
      expect(quarterOf(at)).toBeGreaterThan(allTime);
    }),
  );
  expect([quarterOf(Number.NaN), quarterOf(-1)]).toEqual([1, 1]);
});
