// Counts of events or leads by type or by another value, and by time, as pictures take them.
import { labelInWords, monthOfLabel, shortLabel } from './score-history.js';
import { dateInWords, isolated } from './words.js';

export interface SeriesRow {
  /** null: without a value. */
  name: string | null;
  total: number;
  /** A number for each bucket; absent where all time is one. */
  values?: readonly number[] | undefined;
}

export interface DrawnSeries {
  /** `Events by type`. */
  title: string;
  /** What is counted. */
  unit: 'event' | 'lead' | 'repeat';
  total: number;
  /** Further numbers: `12 repeats dropped`. */
  notes: readonly string[];
  /** null: of what is counted is in `scope`. */
  time: SeriesTime | null;
  /** `Of all time`. */
  scope?: string;
  /** The largest first. */
  rows: readonly SeriesRow[];
  /** All further values together; `groups` null: too many to tell. */
  other: { groups: number | null; total: number } | null;
}

export interface SeriesTime {
  granularity: 'hour' | 'day' | 'week' | 'month';
  timezone: string;
  /** At least one, the oldest first: `2026-03-29T14:00+02:00`, `2026-03-29`, of a week its Monday, `2026-03`. */
  labels: readonly string[];
  /** The number of each bucket. */
  totals: readonly number[];
}

/** Rows that a picture shows; the values of the others are in its last line. */
export const maximumRows = 12;

export function nameOfRow({ name }: SeriesRow): string {
  if (name === null) return 'without a value';
  return name === '' ? 'an empty text' : isolated(name);
}

const isMonth = (label: string) => label.length === 'YYYY-MM'.length;

/** `28 March 2026, 14:00`, `28 March 2026`, `March 2026`. */
export function bucketInWords(label: string): string {
  return isMonth(label) ? dateInWords(`${label}-01T00:00:00.000Z`).replace(/^\d+ /, '') : labelInWords(label);
}

/** `28 Mar, 14:00`, `28 Mar`, `Mar 2026`. @param isLong whether months are enough */
export function shortBucket(label: string, isLong: boolean): string {
  if (isMonth(label)) return monthOfLabel(`${label}-01`);
  return isLong && !label.includes('T') ? monthOfLabel(label) : shortLabel(label);
}

/** `28 March 2026 to 30 March 2026`, or one of them. */
export function rangeOfBuckets(labels: readonly string[]): string {
  const [first = '', last = ''] = [labels[0], labels.at(-1)];
  return first === last ? bucketInWords(first) : `${bucketInWords(first)} to ${bucketInWords(last)}`;
}
