// The pictures of counts by type and time: what they draw, and what they say.
import { expect, test } from '@jest/globals';
import { columns } from './columns.js';
import { maximumRows } from './event-series.js';
import { renderSeries } from './event-series-picture.js';
import { seriesInWords, seriesTitle } from './event-series-words.js';
import { eventSeries, usual } from './testing/event-series.js';

const { extreme, batches, nothing } = eventSeries;
const allTime = eventSeries['all-time'];
const oneMonth = eventSeries['one-month'];

test('columns are as high as their share of the highest, and a small number is still to be seen', () => {
  const area = { left: 0, right: 40, top: 0, bottom: 100 };
  expect(columns([10, 0, 5, 0.01], 10, area)).toBe('M1 100v-100h8v100zM21 100v-50h8v50zM31 100v-1h8v1z');
});

test('the words have the total, the course and the number of each row', () => {
  expect(seriesTitle(usual)).toBe('Events by type, 1 March 2026 to 30 March 2026');
  const words = seriesInWords(usual);
  expect(words).toMatch(/^18,\d{3} events, 124 repeats dropped\. By day, in the time zone Europe\/Berlin, /);
  expect(words).toContain('2 March 2026: ');
  for (const { name, total } of usual.rows)
    expect(words).toContain(`\u2068${name ?? ''}\u2069: ${total.toLocaleString('en')}`);
  expect(allTime && seriesTitle(allTime)).toBe('Events by type, of all time');
  expect(oneMonth && seriesTitle(oneMonth)).toBe('Events by type, March 2026');
  expect(allTime && seriesInWords(allTime)).toMatch(/3 further values not shown\.$/);
  const flooded = allTime && { ...allTime, other: { groups: null, total: 9 } };
  expect(flooded && seriesInWords(flooded)).toMatch(/\. Further values not shown\.$/);
  expect(nothing && seriesInWords(nothing)).toBe('0 events.');
  expect(batches && seriesInWords(batches)).toBe('3 repeats, 1 with other content.');
});

test('very many buckets and values are told in part, with the highest', () => {
  const words = extreme ? seriesInWords(extreme) : '';
  expect(words).toContain('most in 1 January 2026, 00:00: 9,007,199,254,740,991.');
  expect(words).toContain(`${(50 - maximumRows + 1_000).toLocaleString('en')} further values not shown.`);
  expect(words.length).toBeLessThan(6_000);
});

test('what a producer sent is text, and runs nowhere', () => {
  const picture = extreme ? renderSeries(extreme, 960) : '';
  expect(picture).not.toContain('<script');
  expect(picture).toContain('&lt;script&gt;');
});
