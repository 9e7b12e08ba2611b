// Attempts to deliver: each sends a notification once, and puts what came of it on the log.
import { records } from '@lead-scoring/contracts';
import { isRetriable } from '@lead-scoring/event-log';
import { pause, type Logger } from '@lead-scoring/service';
import type { Channel } from '../configuration/state.js';
import type { Clock } from './clock.js';
import { failed, type AttemptResult } from './senders/sender.js';
import type { SendNotification } from './senders/senders.js';
import type { Caller, Notification } from './state.js';

export interface AttemptDependencies {
  send: SendNotification;
  /** Puts the end of an attempt on the log. */
  record: (attempt: records.RecordAttempt, caller: Caller | null) => Promise<void>;
  clock: Clock;
  logger: Logger;
}

const pauseBetweenWritesMs = 1_000;

export class Attempts {
  readonly #cutOff = new AbortController();

  constructor(private readonly dependencies: AttemptDependencies) {}

  /** Aborted when attempts under way are cut off. */
  get signal(): AbortSignal {
    return this.#cutOff.signal;
  }

  cutOff(): void {
    this.#cutOff.abort();
  }

  /**
   * Resolves when the end of the attempt is on the log: an attempt is repeated after a crash only until then.
   * @param channel null: it was deleted
   */
  async make(channel: Channel | null, notification: Notification): Promise<void> {
    const attempt = await this.#tryOnce(channel, notification);
    if (attempt) await this.#record(attempt, notification.caller);
  }

  /** @returns null when the attempt was cut off: then nobody knows what came of it, and it is made again */
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
      if (!this.signal.aborted) logger.error({ err: error, notification_id }, 'sending has failed');
      return failed('internal', 'Something went wrong on our side.');
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
          // It stays unrecorded, and the next owner of the partition sends it again.
          logger.error({ err: error, notification_id }, 'an attempt cannot be recorded');
          return;
        }
        logger.warn({ err: error, notification_id }, 'an attempt cannot be recorded yet');
        await pause(pauseBetweenWritesMs, this.signal);
      }
    }
  }
}
