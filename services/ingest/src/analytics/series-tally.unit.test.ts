// Series of events and of distinct leads are exact, and miss nothing.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SeriesTally } from './series-tally.js';

const buckets = 4;
const added = fc.record({
  value: fc.constantFrom('a', 'b', 'c', 'd', null),
  bucket: fc.nat(buckets - 1),
  lead: fc.constantFrom('1', '2', '3'),
});

test('law: each number is that of the events or distinct leads that it stands for, others and totals too', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('events', 'leads'),
      fc.array(added, { maxLength: 60 }),
      fc.integer({ min: 1, max: 6 }),
      (metric, events, most) => {
        const tally = SeriesTally.of(metric, buckets);
        for (const { value, bucket, lead } of events) tally.add(value, bucket, lead);
        const { total, totals, series, other } = tally.result(most);
        const numberOf = (of: typeof events) =>
          metric === 'events' ? of.length : new Set(of.map(({ lead }) => lead)).size;
        const byBucket = (of: typeof events) =>
          Array.from({ length: buckets }, (_, bucket) => numberOf(of.filter((one) => one.bucket === bucket)));
        const present = new Set(events.map(({ value }) => value));
        const shown = new Set(series.map(({ value }) => value));
        const rest = events.filter(({ value }) => !shown.has(value));
        expect([total, totals]).toEqual([numberOf(events), byBucket(events)]);
        expect(shown.size).toBe(Math.min(most, present.size));
        for (const one of series) {
          const own = events.filter(({ value }) => value === one.value);
          expect([one.total, one.values]).toEqual([numberOf(own), byBucket(own)]);
        }
        expect(other).toEqual(
          present.size <= most
            ? null
            : { groups: present.size - most, total: numberOf(rest), values: byBucket(rest) },
        );
        const least = series.at(-1)?.total ?? 0;
        for (const value of present)
          if (!shown.has(value))
            expect(numberOf(events.filter((one) => one.value === value))).toBeLessThanOrEqual(least);
      },
    ),
  );
});

test('several events at once count as so many, and series are in the order of their totals, then of their values', () => {
  const tally = SeriesTally.of('events', 2);
  tally.add('b', 0, '', 3);
  tally.add(null, 1, '', 3);
  tally.add('a', 1, '', 3);
  tally.add('c', 1, '', 5);
  expect(tally.result(50).series).toEqual([
    { value: 'c', total: 5, values: [0, 5] },
    { value: 'a', total: 3, values: [0, 3] },
    { value: 'b', total: 3, values: [3, 0] },
    { value: null, total: 3, values: [0, 3] },
  ]);
});
