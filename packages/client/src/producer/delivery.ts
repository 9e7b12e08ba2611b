// Sends a batch until the API has answered for each of its events.
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { RequestFailed } from '../errors.js';
import { postEvents, type EventToSend } from '../ingest.js';
import { defaultSchedule, delayAfter } from '../retry.js';
import { sender } from '../send.js';
import type { DroppedEvents, ProducerOptions } from './options.js';

export type Deliver = (lines: readonly string[]) => Promise<'answered' | 'stopped'>;

/** @param dropped is told of events that the API refuses */
export function deliverer(
  options: ProducerOptions,
  stop: AbortSignal,
  dropped: (events: DroppedEvents) => void,
): Deliver {
  const schedule = options.retries ?? defaultSchedule;
  // Whatever may pass with time is tried until it does.
  const send = sender({ ...options, retries: { ...schedule, attempts: Infinity } });
  const onRetry = options.onRetry ?? (() => undefined);
  return async (lines) => {
    const idempotencyKey = randomUUID();
    for (let failures = 1; ; failures += 1) {
      try {
        const request = { idempotencyKey, partial: true, signal: stop, onRetry };
        const { rejected } = await postEvents(send, lines, request);
        for (const { index, errors } of rejected ?? [])
          dropped({ reason: 'invalid', events: eventsOf([lines[index] ?? '{}']), errors });
        return 'answered';
      } catch (error) {
        if (stop.aborted) return 'stopped';
        if (isAboutEvents(error)) {
          dropped({ reason: 'refused', events: eventsOf(lines), cause: error });
          return 'answered';
        }
        const waitMs = delayAfter(failures, schedule, null, Math.random());
        onRetry(error instanceof Error ? error : new Error(String(error)), waitMs);
        await wait(waitMs, undefined, { signal: stop }).catch(() => undefined);
      }
    }
  };
}

/**
 * Whether the API itself refuses what the request has in it. An ended credential, a wrong address and an answer of another program are
 * mended by an operator, and the events keep until then.
 */
function isAboutEvents(error: unknown): error is RequestFailed {
  return (
    error instanceof RequestFailed && error.problem !== null && [400, 413, 415, 422].includes(error.status)
  );
}

export const eventsOf = (lines: readonly string[]): EventToSend[] =>
  lines.map((line) => JSON.parse(line) as EventToSend);
