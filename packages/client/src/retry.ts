// When to try again, and how long to wait: the schedule as data.

export interface RetrySchedule {
  /** Tries in all. */
  attempts: number;
  firstDelayMs: number;
  maximumDelayMs: number;
}

export const defaultSchedule: RetrySchedule = { attempts: 8, firstDelayMs: 200, maximumDelayMs: 15_000 };

/** 429 and 5xx pass (SPEC.md: retry with exponential backoff); 409 does while the first try of the same key is still running. */
export function isWorthRetrying(status: number, code: string | undefined): boolean {
  return status === 429 || status >= 500 || (status === 409 && code === 'idempotency_key_in_progress');
}

/**
 * Milliseconds to wait after a try: doubling, with jitter of up to a half, and never less than Retry-After asks.
 * @param attempt the number of the try that failed, from 1
 * @param random a number in [0, 1)
 */
export function delayAfter(
  attempt: number,
  schedule: RetrySchedule,
  retryAfter: string | null,
  random: number,
): number {
  const backoff = Math.min(schedule.maximumDelayMs, schedule.firstDelayMs * 2 ** (attempt - 1));
  const asked = retryAfter === null ? 0 : Number(retryAfter) * 1_000;
  return Math.max(backoff * (0.5 + random / 2), Number.isFinite(asked) ? asked : 0);
}
