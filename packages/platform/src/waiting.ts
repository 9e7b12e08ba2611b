// Waiting for a condition, with a deadline.
import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Names the condition in the error message. */
  description: string;
  timeoutMs: number;
  pollMs?: number;
  /** Ends the waiting early: returns the reason why the condition cannot come true any more, or undefined. */
  abortReason?: () => string | undefined;
}

/**
 * Calls `attempt` until it resolves, and resolves with its value.
 *
 * @throws Error with the last attempt's reason, when the time is over or `abortReason` returns one
 */
export async function waitUntil<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const deadline = Date.now() + options.timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const reason = options.abortReason?.();
      if (reason !== undefined) {
        throw new Error(`${options.description}: ${reason}`, { cause: error });
      }
      if (Date.now() >= deadline) {
        const last = error instanceof Error ? error.message : String(error);
        throw new Error(
          `${options.description}: gave up after ${Math.round(options.timeoutMs / 1000)} s; last error: ${last}`,
          { cause: error },
        );
      }
    }
    await delay(options.pollMs ?? 100);
  }
}

/** By how much a wait may be longer than it says: for tests on a slow or busy machine, where only what hangs is to fail. */
const patience = Number(process.env['TEST_PATIENCE'] ?? 1);

/** A limit of a test, in milliseconds, as long as this run's patience makes it. */
export function patientMs(milliseconds: number): number {
  return milliseconds * patience;
}

/**
 * Calls `look` until it returns something other than false, null or undefined, and resolves with that. While `look` throws,
 * it is called again.
 *
 * @param condition names the condition in the error message
 * @throws Error with the last failure of `look`, when the time is over
 */
export async function eventually<Found>(
  condition: string,
  look: () => Found | Promise<Found>,
  timeoutMs = 30_000,
  pollMs = 20,
): Promise<Exclude<Found, Nothing>> {
  return waitUntil(
    async () => {
      const found = await look();
      if (isNothing(found)) throw new Error('not yet');
      return found as Exclude<Found, Nothing>;
    },
    { description: condition, timeoutMs: patientMs(timeoutMs), pollMs },
  );
}

type Nothing = false | null | undefined;

function isNothing(found: unknown): found is Nothing {
  return found === false || found === null || found === undefined;
}
