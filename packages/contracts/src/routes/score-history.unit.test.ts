// The queries that score-history takes and refuses, and the messages of the refusals.
import { describe, expect, test } from '@jest/globals';
import { drawScoreHistory, getScoreHistory } from './score-history.js';

const complaints = (query: Record<string, string>, route: typeof drawScoreHistory | typeof getScoreHistory) =>
  (route.query.safeParse(query).error?.issues ?? []).map(({ path, message }) => [path.join('.'), message]);

describe.each([getScoreHistory, drawScoreHistory])('the query of $name', (route) => {
  test('without parameters is the engagement score by days in UTC', () => {
    expect(route.query.parse({})).toMatchObject({
      score_type: 'engagement',
      granularity: 'day',
      timezone: 'UTC',
    });
  });

  test('takes plain dates as they are, moments as UTC, and time zones in any case', () => {
    const asked = { from: '2026-03-28', to: '2026-03-30T12:00:00+02:00', timezone: 'europe/berlin' };
    expect(route.query.parse(asked)).toMatchObject({ from: '2026-03-28', to: '2026-03-30T10:00:00.000Z' });
  });

  test.each([
    [
      'timezone',
      { timezone: 'Europe/Atlantis' },
      'must be a name of the IANA time zone database such as Europe/Berlin',
    ],
    [
      'timezone',
      { timezone: '+02:00' },
      'must be a name of the IANA time zone database such as Europe/Berlin',
    ],
    [
      'timezone',
      { timezone: 'Mars', from: '2020-01-01' },
      'must be a name of the IANA time zone database such as Europe/Berlin',
    ],
    ['from', { from: 'yesterday' }, 'must be an ISO 8601 time such as 2026-01-31T09:30:00Z'],
    ['to', { to: '2026-02-30', from: '2026-02-01' }, 'must be an ISO 8601 time such as 2026-01-31T09:30:00Z'],
    ['from', { from: '0999-12-31', to: '1000-01-02' }, 'must not be before the year 1000'],
    ['from', { from: '9000-01-01' }, 'must not be in the future'],
    ['to', { from: '2026-03-02', to: '2026-03-01' }, 'must not be before from: nothing lies between them'],
    ['known_at', { known_at: '9000-01-01' }, 'must not be in the future'],
    ['granularity', { granularity: 'week' }, expect.stringContaining('hour')],
    [
      'score_type',
      { score_type: 'account' },
      'must be engagement or profile or deal: past scores of accounts are not kept',
    ],
  ])('refuses %s in %j', (parameter, query, message) => {
    expect(complaints(query, route)).toEqual([[parameter, message]]);
  });

  test.each([
    ['day', '2020-01-01', '2023-01-06', '2023-01-05'],
    ['hour', '2026-01-01', '2026-02-16', '2026-02-15T20:00:00Z'],
  ])('by %s has at most 1,100 points', (granularity, from, tooLate, latest) => {
    expect(complaints({ granularity, from, to: latest }, route)).toEqual([]);
    const refusal =
      'must be at most 1,100 hours, or days with granularity=day, before to, which is now by default';
    expect(complaints({ granularity, from, to: tooLate }, route)).toEqual([['from', refusal]]);
    expect(complaints({ granularity, from }, route)).toEqual([['from', refusal]]);
    expect(complaints({ granularity, from, known_at: latest }, route)).toEqual([]);
  });
});

test('a picture is at least 320 and at most 1,600 pixels wide', () => {
  expect(drawScoreHistory.query.parse({})).toMatchObject({ width: 960 });
  for (const width of ['319', '1601', 'wide'])
    expect(complaints({ width }, drawScoreHistory)).toEqual([
      ['width', 'must be a whole number from 320 to 1600'],
    ]);
});
