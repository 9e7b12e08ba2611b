// Waiting for a condition, with a deadline.
import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** What is waited for, for the message when it does not come. */
  description: string;
  timeoutMs: number;
  pollMs?: number;
  /** Ends the waiting early: why it has become pointless, or undefined. */
  hopeless?: () => string | undefined;
}

/**
 * Calls `attempt` until it resolves, and resolves with its value.
 *
 * @throws Error with the last attempt's reason, when the time is over or `hopeless` names a reason
 */
export async function waitUntil<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const deadline = Date.now() + options.timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const reason = options.hopeless?.();
      if (reason !== undefined) {
        throw new Error(`${options.description}: ${reason}`, { cause: error });
      }
      if (Date.now() >= deadline) {
        const last = error instanceof Error ? error.message : String(error);
        throw new Error(
          `${options.description}: not after ${Math.round(options.timeoutMs / 1000)} s; last answer: ${last}`,
          { cause: error },
        );
      }
    }
    await delay(options.pollMs ?? 100);
  }
}

/**
 * Looks until there is something, and resolves with it: the first answer that is not false, null or undefined. A look
 * that throws has found nothing.
 *
 * @param what is waited for, in words: the failure names it
 * @throws Error with the last look's failure, when the time is over
 */
export async function eventually<Found>(
  what: string,
  look: () => Found | Promise<Found>,
  timeoutMs = 30_000,
  pollMs = 20,
): Promise<Exclude<Found, Nothing>> {
  return waitUntil(
    async () => {
      const found = await look();
      if (isNothing(found)) throw new Error('nothing found');
      return found as Exclude<Found, Nothing>;
    },
    { description: what, timeoutMs, pollMs },
  );
}

type Nothing = false | null | undefined;

function isNothing(found: unknown): found is Nothing {
  return found === false || found === null || found === undefined;
}
