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
