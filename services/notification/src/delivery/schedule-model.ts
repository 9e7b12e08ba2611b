// When a notification is retried: the published schedule as data, and pure arithmetic on it. Jitter is a hash, not random, and no
// clock is read, so that a repeated computation gives the same delay.
import { nameBasedId } from '@lead-scoring/contracts';
import type { FailureReason } from './state.js';

/** Seconds before each attempt, counted from the end of the attempt before; 27.6 hours from the first to the last. */
export const publishedSchedule: readonly number[] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];

/** Maximum deviation from the schedule, as a fraction, so that notifications that failed together are not retried together. */
const jitter = 0.2;

/** Minimum delay after an attempt that an overloaded destination failed. */
const overloadSeconds = 60;

/** Reasons that show an overloaded destination. */
const overloads: ReadonlySet<FailureReason> = new Set<FailureReason>(['rate_limited', 'timeout']);

export interface FailedTry {
  notification_id: string;
  /** Number of the attempt among all attempts of the notification, from 1. */
  attempt: number;
  /** Number of the schedule's attempts that are used, this one included. */
  tries: number;
  reason: FailureReason;
  /** The Retry-After of the destination. */
  retry_after_seconds?: number | undefined;
}

/**
 * Milliseconds from the end of a failed attempt to the next attempt; null after the schedule's last attempt.
 * A Retry-After counts between the schedule's delay and twice that delay.
 */
export function delayAfter(schedule: readonly number[], failed: FailedTry): number | null {
  const scheduled = schedule[failed.tries];
  if (scheduled === undefined) return null;
  // A schedule with shorter delays than the minimum sets its own minimum.
  const floor = overloads.has(failed.reason) ? Math.min(overloadSeconds, Math.max(...schedule)) : 0;
  const base = Math.max(scheduled, floor);
  if (failed.retry_after_seconds !== undefined)
    return Math.min(Math.max(failed.retry_after_seconds, base), 2 * base) * 1_000;
  return Math.round(Math.max(base * (1 + jitter * spreadOf(failed)), floor) * 1_000);
}

/** From -1 to 1, the same for the same attempt, uniformly distributed over attempts. */
function spreadOf({ notification_id, attempt }: FailedTry): number {
  const digits = nameBasedId(notification_id, `attempt:${String(attempt)}`).slice(0, 8);
  return (parseInt(digits, 16) / 0xffff_ffff) * 2 - 1;
}

/** Settings of a deployment; the defaults are the published numbers. */
export interface DeliveryPolicy {
  /** Seconds before each attempt. */
  schedule: readonly number[];
  /** Time without a success after which a channel is paused. */
  pauseAfterMs: number;
  /** Time between two probes of a paused channel. */
  probeEveryMs: number;
}

export const publishedPolicy: DeliveryPolicy = {
  schedule: publishedSchedule,
  pauseAfterMs: 5 * 24 * 3_600_000,
  probeEveryMs: 3_600_000,
};

/** Minimum number of consecutive failures before a channel is paused, whatever the time between them. */
export const failuresUntilPaused = 4;
