// A pause that a signal ends early.
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // An aborted pause rejects; there is no other failure.
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
