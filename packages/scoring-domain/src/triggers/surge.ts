// Whether a lead gained a threshold of points within a window of event time.
import { heldInRange } from '../score-range.js';
import type { Gain } from './lead-state.js';

export interface SurgeWindow {
  readonly gained: number;
  /** Event time of the first and the last counted event, in milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly event_count: number;
}

/**
 * The first window that contains the moment `at`, ends with a gain or a loss, and reaches the threshold; both ends are inclusive.
 * For an event in order that is the window that ends at the event; for a late event the window may end after it.
 * @param gains points won and lost, by event time
 */
export function findSurge(
  gains: readonly Gain[],
  at: number,
  { threshold, window_seconds }: { threshold: number; window_seconds: number },
): SurgeWindow | null {
  const windowMs = window_seconds * 1_000;
  let first = 0;
  let gained = 0;
  for (const [index, { at: to, points }] of gains.entries()) {
    if (to > at + windowMs) return null;
    gained += points;
    let from = gains[first];
    while (from && from.at < to - windowMs) {
      gained -= from.points;
      first += 1;
      from = gains[first];
    }
    // All events of one moment belong to the window that ends at the moment.
    if (to < at || gains[index + 1]?.at === to) continue;
    if (gained >= threshold && from)
      return { gained: heldInRange(gained), from: from.at, to, event_count: index - first + 1 };
  }
  return null;
}
