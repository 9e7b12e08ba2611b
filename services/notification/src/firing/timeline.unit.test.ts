// The entries that a timeline keeps.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  maximumEntries,
  remember,
  type Timeline,
  type TimelineEntry,
} from '@lead-scoring/scoring-domain/triggers';

const hour = 3_600_000;

interface Entry extends TimelineEntry {
  number: number;
}

function rememberAll(times: readonly number[], windowMs: number, takenAt = Infinity): readonly Entry[] {
  return (
    times.reduce<Timeline<Entry> | undefined>(
      (timeline, at, number) => remember(timeline, { at, number }, { takenAt, windowMs }),
      undefined,
    )?.entries ?? []
  );
}

test('entries are by event time, and those of one moment in the order of their addition', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }), (times) => {
      const expected = times
        .map((at, number) => ({ at, number }))
        .sort((a, b) => a.at - b.at || a.number - b.number);
      expect(rememberAll(times, 100)).toEqual(expected);
    }),
  );
});

test('entries within two windows, or a window and a day, of the newest are kept', () => {
  const often = Array.from({ length: 200 }, (_, index) => (index * hour) / 2);
  const newest = 99.5 * hour;
  expect(rememberAll(often, hour)[0]?.at).toBe(newest - 25 * hour);
  expect(rememberAll(often, 30 * hour)[0]?.at).toBe(newest - 60 * hour);
});

test('the newest few are kept whatever their age, and never more than the maximum', () => {
  expect(rememberAll([0, ...Array.from({ length: 31 }, () => 1_000 * hour)], hour)).toHaveLength(32);
  expect(rememberAll([0, ...Array.from({ length: 32 }, () => 1_000 * hour)], hour)).toHaveLength(32);
  expect(
    rememberAll(
      Array.from({ length: 2_000 }, () => 0),
      hour,
    ),
  ).toHaveLength(maximumEntries);
});

test('an entry with a time in the future does not age out present entries', () => {
  const present = Array.from({ length: 50 }, () => 0);
  expect(rememberAll([...present, 100 * hour], hour, hour)).toHaveLength(51);
});
