// Whether points came fast enough.
import { heldInRange } from '@lead-scoring/scoring-domain';
import type { Gain } from './state.js';

export interface SurgeWindow {
  readonly gained: number;
  /** Event time of the first and the last event that count, milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly event_count: number;
}

/**
 * The first window of event time that holds this moment, ends with a gain or a loss and reaches the threshold; both ends
 * belong to it. In order that is the window which ends now; after a late event it may be one that ended since.
 * @param gains and losses, by event time
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
    // Of events at one moment, all belong to the windows that end then.
    if (to < at || gains[index + 1]?.at === to) continue;
    if (gained >= threshold && from)
      return { gained: heldInRange(gained), from: from.at, to, event_count: index - first + 1 };
  }
  return null;
}
