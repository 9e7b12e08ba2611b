// Counts by type and time in words, for readers who hear their picture.
import {
  bucketInWords,
  maximumRows,
  nameOfRow,
  rangeOfBuckets,
  type DrawnSeries,
  type SeriesTime,
} from './event-series.js';
import { countInWords, numberInWords } from './words.js';

/** Buckets that are told one by one. */
const toldBuckets = 40;

/** `Events by type, 28 March 2026 to 30 March 2026`, `Events by type, of all time`. */
export function seriesTitle({ title, time, scope = 'Of all time' }: DrawnSeries): string {
  return `${title}, ${time ? rangeOfBuckets(time.labels) : scope.toLowerCase()}`;
}

/** The picture as a text: the total, its course over the time, and the number of each row. */
export function seriesInWords(series: DrawnSeries): string {
  const { unit, total, notes, time, rows, other } = series;
  const shown = rows.slice(0, maximumRows);
  const all = [`${countInWords(total, unit)}${notes.map((note) => `, ${note}`).join('')}.`];
  if (time && total > 0) all.push(courseOf(time));
  if (shown.length > 0)
    all.push(`${shown.map((row) => `${nameOfRow(row)}: ${numberInWords(row.total)}`).join('; ')}.`);
  const more = restInWords({ rows, other });
  if (more !== '') all.push(`${more}.`);
  return all.join(' ');
}

/** What is beyond the rows: `3 further values not shown`; `Further values not shown` where their number is not known. */
export function restInWords({ rows, other }: Pick<DrawnSeries, 'rows' | 'other'>): string {
  if (other?.groups === null) return 'Further values not shown';
  const hidden = Math.max(0, rows.length - maximumRows) + (other?.groups ?? 0);
  return hidden === 0 ? '' : `${countInWords(hidden, 'further value')} not shown`;
}

function courseOf({ granularity, timezone, labels, totals }: SeriesTime): string {
  const filled = labels
    .map((label, index) => ({ label, count: totals[index] ?? 0 }))
    .filter(({ count }) => count > 0);
  const told = ({ label, count }: (typeof filled)[number]) =>
    `${bucketInWords(label)}: ${numberInWords(count)}`;
  const where = `in the time zone ${timezone}`;
  if (filled.length <= toldBuckets)
    return `By ${granularity}, ${where}, the others have none: ${filled.map(told).join('; ')}.`;
  const most = filled.reduce((high, one) => (one.count > high.count ? one : high));
  const some = Array.from(
    { length: toldBuckets },
    (_, index) => filled[Math.round((index * (filled.length - 1)) / (toldBuckets - 1))],
  ).filter((one) => one !== undefined);
  return `By ${granularity}, ${where}: most in ${told(most)}. Some of ${countInWords(filled.length, granularity)} with any: ${some.map(told).join('; ')}.`;
}
