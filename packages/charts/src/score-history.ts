// The history of a score by hour or day, as pictures take it.
import { dateInWords, numberInWords, shortMoment } from './words.js';

/** A range of scores with a name; both bounds belong to it, and null is open. */
export interface HistoryLevel {
  name: string;
  min_score: number | null;
  max_score: number | null;
  color: string;
}

export interface HistoryPoint {
  /** The hour or day in the time zone: `2026-03-29`, `2026-03-29T14:00+02:00`. */
  label: string;
  added: number;
  /** At most 0. */
  taken: number;
  /** At the end of the hour or day. */
  score: number;
}

export interface DrawnHistory {
  /** The name of the kind of score: `Lead score`. */
  kind: string;
  lead_name: string;
  granularity: 'hour' | 'day';
  timezone: string;
  /** Before the first point. */
  score_before: number;
  /** The level of the last score. */
  level: { name: string; color: string } | null;
  levels: readonly HistoryLevel[];
  /** At least one, the oldest first. */
  points: readonly HistoryPoint[];
}

/** The time of a label, as if its time zone were UTC. */
function clockOf(label: string): string {
  return label.includes('T') ? `${label.slice(0, 16)}:00.000Z` : `${label}T00:00:00.000Z`;
}

/** `28 March 2026`, `28 March 2026, 14:00`. */
export function labelInWords(label: string): string {
  return dateInWords(clockOf(label)) + (label.includes('T') ? `, ${label.slice(11, 16)}` : '');
}

/** `28 Mar`, `28 Mar, 14:00`. */
export function shortLabel(label: string): string {
  return shortMoment(clockOf(label), label.includes('T'));
}

/** `Mar 2026`. */
export function monthOfLabel(label: string): string {
  return `${shortMoment(clockOf(label), false).replace(/^\d+ /, '')} ${label.slice(0, 4)}`;
}

/** `28 March 2026 to 30 March 2026`, or one of them. */
export function rangeOfLabels(points: readonly HistoryPoint[]): string {
  const [first = '', last = ''] = [points[0]?.label, points.at(-1)?.label];
  return first === last ? labelInWords(first) : `${labelInWords(first)} to ${labelInWords(last)}`;
}

/** `28 Mar to 30 Mar 2026`, `28 Mar, 14:00 to 29 Mar, 13:00`. */
export function shortRangeOfLabels(points: readonly HistoryPoint[]): string {
  const [first = '', last = ''] = [points[0]?.label, points.at(-1)?.label];
  const range = first === last ? shortLabel(first) : `${shortLabel(first)} to ${shortLabel(last)}`;
  return last.includes('T') ? range : `${range} ${last.slice(0, 4)}`;
}

/** `30 to 59`, `60 and more`, `up to 29`. */
export function boundsInWords({ min_score, max_score }: Omit<HistoryLevel, 'name' | 'color'>): string {
  if (min_score === null) return max_score === null ? 'any score' : `up to ${numberInWords(max_score)}`;
  return max_score === null
    ? `${numberInWords(min_score)} and more`
    : `${numberInWords(min_score)} to ${numberInWords(max_score)}`;
}
