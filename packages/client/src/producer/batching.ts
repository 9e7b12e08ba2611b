// When the next batch is due: pure functions of what waits in a queue.
import type { BatchLimits } from './queue.js';

/** Events that no batch has yet. */
export interface UntakenEvents {
  /** At least so many; those that were found on disk are not counted. */
  events: number;
  bytes: number;
  /** When the first of them began to wait, in milliseconds; null where there are none. */
  since: number | null;
  /** Whether somebody waits for them to be sent. */
  wanted: boolean;
}

/** Milliseconds until the next batch is due: 0 for now, null when nothing waits. */
export function dueIn(
  untaken: UntakenEvents,
  limits: BatchLimits,
  lingerMs: number,
  now: number,
): number | null {
  if (untaken.bytes === 0) return null;
  if (untaken.wanted || untaken.events >= limits.events || untaken.bytes >= limits.bytes) return 0;
  return Math.max(0, (untaken.since ?? now) + lingerMs - now);
}
