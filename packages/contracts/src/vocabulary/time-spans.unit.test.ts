// Hours, days, weeks and months follow one another without gaps, as the clocks of their time zone show them.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { placeIn, timeSpans, type RequestedTime } from './time-spans.js';

const latest = '2026-11-21T14:05:00.000Z';
const spansOf = (request: Partial<RequestedTime>) =>
  timeSpans({ granularity: 'day', timezone: 'UTC', latest, ...request });
const hoursOf = ({ from, at }: { from: string; at: string }) =>
  (Date.parse(at) + 1 - Date.parse(from)) / 3_600_000;

test('without from there are 30 days or 48 hours, and the last one ends now', () => {
  const days = spansOf({});
  expect(days).toHaveLength(30);
  expect(days[0]?.label).toBe('2026-10-23');
  expect(days.at(-1)).toEqual({ from: '2026-11-21T00:00:00.000Z', at: latest, label: '2026-11-21' });
  const hours = spansOf({ granularity: 'hour', timezone: 'Asia/Kolkata' });
  expect(hours).toHaveLength(48);
  expect(hours.at(-1)).toEqual({
    from: '2026-11-21T13:30:00.000Z',
    at: latest,
    label: '2026-11-21T19:00+05:30',
  });
});

test('a plain date is a day of the time zone: from begins with it, to ends before it', () => {
  const asked = { from: '2026-03-01', to: '2026-03-03' };
  expect(spansOf({ ...asked, timezone: 'Asia/Tokyo' })).toEqual([
    { from: '2026-02-28T15:00:00.000Z', at: '2026-03-01T14:59:59.999Z', label: '2026-03-01' },
    { from: '2026-03-01T15:00:00.000Z', at: '2026-03-02T14:59:59.999Z', label: '2026-03-02' },
  ]);
});

test('the first day is the one that from is in, and to cuts the last one', () => {
  const asked = { from: '2026-03-01T23:30:00.000Z', to: '2026-03-02T12:00:00.000Z' };
  expect(spansOf({ ...asked, timezone: 'Europe/Berlin' })).toEqual([
    { from: '2026-03-01T23:00:00.000Z', at: '2026-03-02T11:59:59.999Z', label: '2026-03-02' },
  ]);
});

test('what is later than now is cut off; there is always a span', () => {
  expect(spansOf({ from: '2026-11-20', to: '2027-01-01' }).map(({ at }) => at)).toEqual([
    '2026-11-20T23:59:59.999Z',
    latest,
  ]);
  const moment = '2026-11-01T10:00:00.000Z';
  expect(spansOf({ from: moment, to: moment })).toEqual([
    { from: '2026-11-01T00:00:00.000Z', at: moment, label: '2026-11-01' },
  ]);
});

describe('where clocks are changed', () => {
  test('a day has 23 or 25 hours', () => {
    const berlin = { timezone: 'Europe/Berlin' };
    expect(spansOf({ ...berlin, from: '2026-03-28', to: '2026-03-31' }).map(hoursOf)).toEqual([24, 23, 24]);
    expect(spansOf({ ...berlin, from: '2026-10-24', to: '2026-10-27' }).map(hoursOf)).toEqual([24, 25, 24]);
  });

  test('an hour that the clock shows twice is two hours, and one that it skips is none', () => {
    const berlin = { timezone: 'Europe/Berlin', granularity: 'hour' } as const;
    const labels = (from: string, to: string) =>
      spansOf({ ...berlin, from, to }).map(({ label }) => label.slice(11));
    expect(labels('2026-10-24T23:00:00Z', '2026-10-25T03:00:00Z')).toEqual([
      '01:00+02:00',
      '02:00+02:00',
      '02:00+01:00',
      '03:00+01:00',
    ]);
    expect(labels('2026-03-29T00:00:00Z', '2026-03-29T02:00:00Z')).toEqual(['01:00+01:00', '03:00+02:00']);
  });

  test('a change by half an hour makes one longer or shorter hour', () => {
    const lordHowe = { timezone: 'Australia/Lord_Howe', granularity: 'hour' } as const;
    const spans = spansOf({ ...lordHowe, from: '2026-04-04T13:30:00Z', to: '2026-04-04T17:30:00Z' });
    expect(spans.map(hoursOf)).toEqual([1, 1.5, 1, 1]);
    expect(spans.map(({ label }) => label.slice(11))).toEqual([
      '00:00+11:00',
      '01:00+11:00',
      '02:00+10:30',
      '03:00+10:30',
    ]);
    const spring = spansOf({ ...lordHowe, from: '2026-10-03T14:30:00Z', to: '2026-10-03T17:00:00Z' });
    expect(spring.map(hoursOf)).toEqual([1, 0.5, 1]);
    expect(spring.map(({ label }) => label.slice(11))).toEqual(['01:00+10:30', '02:30+11:00', '03:00+11:00']);
  });

  test('a day may begin after midnight, and a day that a country skipped is none', () => {
    const saoPaulo = { timezone: 'America/Sao_Paulo', from: '2018-11-04', to: '2018-11-05' };
    expect(spansOf(saoPaulo)[0]).toMatchObject({ from: '2018-11-04T03:00:00.000Z', label: '2018-11-04' });
    const apia = { timezone: 'Pacific/Apia', from: '2011-12-29', to: '2012-01-01' };
    expect(spansOf(apia).map(({ label }) => label)).toEqual(['2011-12-29', '2011-12-31']);
  });
});

test('a week begins on Monday, and a month on its first day', () => {
  const berlin = { timezone: 'Europe/Berlin', from: '2026-03-25', to: '2026-04-07' };
  expect(spansOf({ ...berlin, granularity: 'week' }).map(({ from, label }) => [label, from])).toEqual([
    ['2026-03-23', '2026-03-22T23:00:00.000Z'],
    ['2026-03-30', '2026-03-29T22:00:00.000Z'],
    ['2026-04-06', '2026-04-05T22:00:00.000Z'],
  ]);
  expect(spansOf({ ...berlin, granularity: 'month' }).map(({ from, label }) => [label, from])).toEqual([
    ['2026-03', '2026-02-28T23:00:00.000Z'],
    ['2026-04', '2026-03-31T22:00:00.000Z'],
  ]);
});

/** The shortest and longest span in hours; where a country left out or repeated a day, weeks and months have it too. */
const lengths = { hour: [0.5, 2], day: [21, 27], week: [140, 195], month: [640, 775] } as const;

test('law: in every time zone spans are adjacent, named once each, and cover the time from first to last; every moment is in one', () => {
  const asked = fc.record({
    timezone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
    granularity: fc.constantFrom('hour', 'day', 'week', 'month'),
    from: fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2026, 9, 20) }),
    spans: fc.double({ min: 0.01, max: 30, noNaN: true }),
    within: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(asked, ({ timezone, granularity, from: start, spans: many, within }) => {
      const [, longest] = lengths[granularity];
      const end = Math.min(start + Math.ceil(many * longest * 3_600_000), Date.parse(latest));
      const [from, to] = [new Date(start).toISOString(), new Date(end).toISOString()];
      const spans = timeSpans({ timezone, granularity, from, to, latest });
      for (const [index, { at }] of spans.slice(0, -1).entries())
        expect(Date.parse(spans[index + 1]?.from ?? '')).toBe(Date.parse(at) + 1);
      expect(new Set(spans.map(({ label }) => label)).size).toBe(spans.length);
      expect(spans[0]?.from.localeCompare(from)).toBeLessThanOrEqual(0);
      expect((spans[0]?.at ?? '') >= from).toBe(true);
      expect(Date.parse(spans.at(-1)?.at ?? '')).toBe(end - 1);
      for (const span of spans.slice(1, -1)) {
        const length = hoursOf(span);
        const [shortest] = lengths[granularity];
        expect(length).toBeGreaterThanOrEqual(shortest);
        expect(length).toBeLessThanOrEqual(longest);
      }
      const moment = new Date(start + Math.floor(within * (end - 1 - start))).toISOString();
      const span = spans[placeIn(spans, moment)];
      expect((span?.from ?? '~') <= moment && moment <= (span?.at ?? '')).toBe(true);
      expect(placeIn(spans, to)).toBe(spans.length);
      expect(placeIn(spans, '1800-01-01T00:00:00.000Z')).toBe(-1);
    }),
  );
});
