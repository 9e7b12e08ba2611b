// When to try again, and how long to wait: the schedule as data.

export interface RetrySchedule {
  /** Tries in all, the first one included. */
  attempts: number;
  /** The wait before the second try; it doubles with every further one. */
  firstDelayMs: number;
  /** No wait is longer, unless Retry-After asks for more. */
  maximumDelayMs: number;
}

export const defaultSchedule: RetrySchedule = { attempts: 8, firstDelayMs: 200, maximumDelayMs: 30_000 };

/** 429 and 5xx pass (SPEC.md: retry with exponential backoff); 409 does while the first try of the same key is still running. */
export function isWorthRetrying(status: number, code: string | undefined): boolean {
  return (
    status === 429 || (status >= 500 && status !== 501) || (status === 409 && code === 'request_in_progress')
  );
}

/**
 * Milliseconds to wait after a try: doubling, less a jitter of up to a half so that many clients do not come back at
 * once, and never less than Retry-After asks (seconds or an HTTP date).
 * @param attempt the number of the try that failed, from 1
 * @param random a number in [0, 1)
 */
export function delayAfter(
  attempt: number,
  schedule: RetrySchedule,
  retryAfter: string | null,
  random: number,
  now = Date.now(),
): number {
  const backoff = Math.min(schedule.maximumDelayMs, schedule.firstDelayMs * 2 ** (attempt - 1));
  return Math.max(backoff * (0.5 + random / 2), askedMs(retryAfter, now));
}

/** A server that asks for longer is asked again after this time. */
const longestAskedMs = 300_000;

function askedMs(retryAfter: string | null, now: number): number {
  if (retryAfter === null || retryAfter.trim() === '') return 0;
  const seconds = Number(retryAfter);
  const asked = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retryAfter) - now;
  return Number.isNaN(asked) ? 0 : Math.min(longestAskedMs, asked);
}
