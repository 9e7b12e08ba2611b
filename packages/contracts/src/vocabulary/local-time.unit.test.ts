import { describe, expect, test } from '@jest/globals';
import { epochMsIn, isTimeZone } from './local-time.js';

describe('a plain date begins at the first moment of that day in the zone', () => {
  test.each([
    ['2026-01-15', 'UTC', '2026-01-15T00:00:00.000Z'],
    ['2026-01-15', 'Europe/Berlin', '2026-01-14T23:00:00.000Z'],
    ['2026-07-15', 'Europe/Berlin', '2026-07-14T22:00:00.000Z'],
    // The days on which the clocks change, and the days after.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    ['2026-01-15', 'America/Los_Angeles', '2026-01-15T08:00:00.000Z'],
    ['2026-01-15', 'Pacific/Kiritimati', '2026-01-14T10:00:00.000Z'],
    ['2026-01-15', 'Asia/Kathmandu', '2026-01-14T18:15:00.000Z'],
    // Midnight is left out, comes twice, and the whole day is left out.
    ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
    ['2018-02-18', 'America/Sao_Paulo', '2018-02-18T03:00:00.000Z'],
    ['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
    ['0099-01-02', 'UTC', '0099-01-02T00:00:00.000Z'],
  ])('%s in %s is %s', (date, zone, expected) => {
    expect(epochMsIn(date, zone)).toBe(Date.parse(expected));
  });
});

test('a moment with its own offset means the same in every zone', () => {
  for (const zone of ['UTC', 'Asia/Tokyo'])
    expect(epochMsIn('2026-01-15T10:00:00+02:00', zone)).toBe(Date.parse('2026-01-15T08:00:00.000Z'));
});

test.each([
  ['Europe/Berlin', true],
  ['europe/berlin', true],
  ['UTC', true],
  ['Mars/Olympus', false],
  ['', false],
])('whether "%s" names a time zone: %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});
