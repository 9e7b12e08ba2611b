// When a notification is tried again: the published schedule as data, and pure arithmetic on it. Nothing here is random
// or reads a clock, so that what is computed twice is the same.
import { nameBasedId } from '@lead-scoring/contracts';
import type { FailureReason } from './state.js';

/** Seconds before each attempt, from the end of the one before: the first is made at once, the last 27 hours later. */
export const publishedSchedule: readonly number[] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];

/** How much earlier or later than the schedule says, so that what failed together is not tried again together. */
const jitter = 0.2;

/** Before a destination that is overloaded is asked again. */
const overloadSeconds = 60;

/** What a destination that is overloaded says, or shows. */
const overloads: ReadonlySet<FailureReason> = new Set<FailureReason>(['rate_limited', 'timeout']);

export interface FailedTry {
  notification_id: string;
  /** Of all attempts of the notification, from 1. */
  attempt: number;
  /** How many attempts of the schedule are used up with this one. */
  tries: number;
  reason: FailureReason;
  /** What the destination asked for. */
  retry_after_seconds?: number | undefined;
}

/**
 * Milliseconds from the end of a failed attempt to the next one; null when the schedule has no other.
 * What the destination asks for is kept to as long as it is no shorter than the schedule and at most twice as long.
 */
export function delayAfter(schedule: readonly number[], failed: FailedTry): number | null {
  const scheduled = schedule[failed.tries];
  if (scheduled === undefined) return null;
  // A schedule that is shorter altogether is meant so.
  const floor = overloads.has(failed.reason) ? Math.min(overloadSeconds, Math.max(...schedule)) : 0;
  const base = Math.max(scheduled, floor);
  if (failed.retry_after_seconds !== undefined)
    return Math.min(Math.max(failed.retry_after_seconds, base), 2 * base) * 1_000;
  return Math.round(Math.max(base * (1 + jitter * spreadOf(failed)), floor) * 1_000);
}

/** From -1 to 1, the same for the same attempt, evenly spread over attempts. */
function spreadOf({ notification_id, attempt }: FailedTry): number {
  const digits = nameBasedId(notification_id, `attempt:${String(attempt)}`).slice(0, 8);
  return (parseInt(digits, 16) / 0xffff_ffff) * 2 - 1;
}

/** What a deployment may set of how destinations are dealt with; the defaults are the published numbers. */
export interface DeliveryPolicy {
  /** Seconds before each attempt. */
  schedule: readonly number[];
  /** A channel that has only failed for so long is paused. */
  pauseAfterMs: number;
  /** How often a paused channel is tried. */
  probeEveryMs: number;
}

export const publishedPolicy: DeliveryPolicy = {
  schedule: publishedSchedule,
  pauseAfterMs: 5 * 24 * 3_600_000,
  probeEveryMs: 3_600_000,
};

/** A destination is not given up for less than so many failures, however far they lie apart. */
export const failuresUntilPaused = 4;
