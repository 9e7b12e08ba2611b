// The retry schedule as data: the number of tries and the waits between them.

export interface RetrySchedule {
  /** Number of tries, including the first. */
  attempts: number;
  /** Wait before the second try; it doubles with every further try. */
  firstDelayMs: number;
  /** Maximum wait, unless Retry-After asks for a longer one. */
  maximumDelayMs: number;
}

export const defaultSchedule: RetrySchedule = { attempts: 8, firstDelayMs: 200, maximumDelayMs: 30_000 };

/**
 * 429 and 5xx are temporary (SPEC.md: retry with exponential backoff). 409 `request_in_progress` is, too: the first try
 * with the same key is still running. A quota that is used up is not: it begins anew on the next day, or in the next month.
 */
export function isWorthRetrying(status: number, code: string | undefined): boolean {
  if (code === 'quota_used_up') return false;
  return (
    status === 429 || (status >= 500 && status !== 501) || (status === 409 && code === 'request_in_progress')
  );
}

/**
 * Milliseconds to wait after a failed try: exponential, minus up to a half as jitter, so that many clients do not
 * return at the same time, and never less than Retry-After asks (seconds or an HTTP date).
 * @param attempt the number of the failed try, from 1
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

/** Maximum wait that Retry-After can cause. */
const longestAskedMs = 300_000;

function askedMs(retryAfter: string | null, now: number): number {
  if (retryAfter === null || retryAfter.trim() === '') return 0;
  const seconds = Number(retryAfter);
  const asked = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retryAfter) - now;
  return Number.isNaN(asked) ? 0 : Math.min(longestAskedMs, asked);
}
