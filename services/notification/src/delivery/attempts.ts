// Attempts to deliver: each sends a notification once, and writes the outcome to the log, in a span that ends the trace of what
// the notification is about.
import { records } from '@lead-scoring/contracts';
import { isRetriable } from '@lead-scoring/event-log';
import { pause, withinTraceOf, type Logger } from '@lead-scoring/service';
import type { Channel } from '../configuration/state.js';
import { createAttemptMetrics } from './attempt-metrics.js';
import type { Clock } from './clock.js';
import { failed, type AttemptResult } from './senders/sender.js';
import type { SendNotification } from './senders/senders.js';
import type { Caller, Notification } from './state.js';

export interface AttemptDependencies {
  send: SendNotification;
  /** Writes the outcome of an attempt to the log. */
  record: (attempt: records.RecordAttempt, caller: Caller | null) => Promise<void>;
  clock: Clock;
  logger: Logger;
}

const pauseBetweenWritesMs = 1_000;

export class Attempts {
  readonly #cutOff = new AbortController();
  readonly #metrics = createAttemptMetrics();

  constructor(private readonly dependencies: AttemptDependencies) {}

  /** Aborted by `cutOff`. */
  get signal(): AbortSignal {
    return this.#cutOff.signal;
  }

  cutOff(): void {
    this.#cutOff.abort();
  }

  /**
   * Resolves when the outcome is on the log. After a crash before that, the attempt is repeated.
   * @param channel null: the channel was deleted
   * @param traceparent the trace that the attempt continues; the record of its outcome belongs to it too
   */
  make(channel: Channel | null, notification: Notification, traceparent?: string): Promise<void> {
    const type = channel?.destination.type ?? 'deleted channel';
    return withinTraceOf(traceparent, `deliver ${type}`, async (describe) => {
      const attempt = await this.#tryOnce(channel, notification);
      if (!attempt) return;
      const { outcome, status, duration_ms, attempt: nth } = attempt;
      describe({ outcome, attempt: nth, duration_ms, ...(status !== undefined && { status }) });
      if (channel) this.#metrics(channel.destination.type, attempt);
      await this.#record(attempt, notification.caller);
    });
  }

  /** @returns null when the attempt was cut off: its outcome is unknown, and the next owner repeats it */
  async #tryOnce(channel: Channel | null, notification: Notification): Promise<records.RecordAttempt | null> {
    const { clock } = this.dependencies;
    const { ou_id, channel_id, notification_id } = notification;
    const at = new Date(clock.now());
    const result = await this.#resultOf(channel, notification, at);
    if (this.signal.aborted && result.outcome !== 'delivered') return null;
    return {
      ou_id,
      channel_id,
      notification_id,
      attempt: notification.attempts + 1,
      attempted_at: at.toISOString(),
      duration_ms: Math.max(0, clock.now() - at.getTime()),
      ...result,
    };
  }

  async #resultOf(channel: Channel | null, notification: Notification, at: Date): Promise<AttemptResult> {
    if (!channel) return { outcome: 'cancelled', detail: 'The channel was deleted.' };
    const { send, logger } = this.dependencies;
    try {
      return await send(channel, notification, { at, signal: this.signal });
    } catch (error) {
      const { notification_id } = notification;
      if (!this.signal.aborted)
        logger.error(
          { err: error, notification_id },
          'an attempt to send a notification has failed in this service',
        );
      return failed('internal', 'The notification service has failed; the destination is not at fault.');
    }
  }

  async #record(attempt: records.RecordAttempt, caller: Caller | null): Promise<void> {
    const { record, logger } = this.dependencies;
    const { notification_id } = attempt;
    while (!this.signal.aborted) {
      try {
        await record(attempt, caller);
        return;
      } catch (error) {
        if (!isRetriable(error)) {
          // The attempt stays unrecorded, and the next owner of the partition repeats it.
          logger.error(
            { err: error, notification_id },
            'the outcome of an attempt cannot be written to the log',
          );
          return;
        }
        logger.warn(
          { err: error, notification_id },
          'the outcome of an attempt cannot be written to the log yet; the write is repeated',
        );
        await pause(pauseBetweenWritesMs, this.signal);
      }
    }
  }
}
