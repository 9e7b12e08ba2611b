// How far back a lead's events are remembered.
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { maximumEntries, remember, type TimelineEntry, type Timeline } from './timeline-model.js';

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

test('entries are by event time, and of one moment in the order in which they came', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }), (times) => {
      const expected = times
        .map((at, number) => ({ at, number }))
        .sort((a, b) => a.at - b.at || a.number - b.number);
      expect(rememberAll(times, 100)).toEqual(expected);
    }),
  );
});

test('what is within two windows, or a window and a day, of the newest is there', () => {
  const often = Array.from({ length: 200 }, (_, index) => (index * hour) / 2);
  const newest = 99.5 * hour;
  expect(rememberAll(often, hour)[0]?.at).toBe(newest - 25 * hour);
  expect(rememberAll(often, 30 * hour)[0]?.at).toBe(newest - 60 * hour);
});

test('a few are there however old they are, and never more than can be looked at', () => {
  expect(rememberAll([0, ...Array.from({ length: 31 }, () => 1_000 * hour)], hour)).toHaveLength(32);
  expect(rememberAll([0, ...Array.from({ length: 32 }, () => 1_000 * hour)], hour)).toHaveLength(32);
  expect(
    rememberAll(
      Array.from({ length: 2_000 }, () => 0),
      hour,
    ),
  ).toHaveLength(maximumEntries);
});

test('an event of the future does not make the present old', () => {
  const present = Array.from({ length: 50 }, () => 0);
  expect(rememberAll([...present, 100 * hour], hour, hour)).toHaveLength(51);
});
