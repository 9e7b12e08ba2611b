// What is known of a notification on its way to a channel, and of how the channel takes what it is sent.
import type { FiredPayload, NotificationPayload, records } from '@lead-scoring/contracts';

export type FailureReason = records.FailureReason;
export type PauseReason = records.ChannelPaused['reason'];
export type AttemptOutcome = records.NotificationAttempted['outcome'];

/** Who waits for the outcome of a test, as the headers of its command say. */
export interface Caller {
  readonly reply_to: string;
  readonly correlation_id: string;
}

export interface LastAttempt {
  readonly at: string;
  readonly duration_ms: number;
  readonly outcome: AttemptOutcome;
  readonly status?: number;
  readonly detail: string;
}

export interface Notification {
  readonly notification_id: string;
  readonly ou_id: string;
  readonly channel_id: string;
  readonly payload: NotificationPayload;
  /** The link that is sent along. */
  readonly share?: NonNullable<records.NotificationRequested['share']>;
  readonly requested_at: string;
  readonly status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  /** All that were made. */
  readonly attempts: number;
  /** How many of the schedule's are used up. */
  readonly tries: number;
  /** When it is to be sent, while it is pending. */
  readonly due_at: string;
  /** Recipients of an e-mail that are still to get it, where others have; null: all. */
  readonly deferred: readonly string[] | null;
  /** The last request to deliver it once more. */
  readonly redelivery_id: string | null;
  readonly last: LastAttempt | null;
  readonly caller: Caller | null;
}

/** How a channel takes what it is sent. */
export interface ChannelHealth {
  readonly ou_id: string;
  readonly channel_id: string;
  /** Since the last success. */
  readonly failures: number;
  /** The first failure after the last success. */
  readonly failing_since: string | null;
  readonly last_attempt_at: string | null;
  readonly last_error: { readonly at: string; readonly detail: string } | null;
  readonly paused: { readonly reason: PauseReason; readonly at: string } | null;
}

export function healthyChannel(ouId: string, channelId: string): ChannelHealth {
  return {
    ou_id: ouId,
    channel_id: channelId,
    failures: 0,
    failing_since: null,
    last_attempt_at: null,
    last_error: null,
    paused: null,
  };
}

/** What a notification is about; null for a test. */
export function firedOf({ payload }: Pick<Notification, 'payload'>): FiredPayload['data'] | null {
  return payload.type === 'channel.test' ? null : payload.data;
}

/** A test is attempted once, whatever comes of it. */
export function isTest({ payload }: Pick<Notification, 'payload'>): boolean {
  return payload.type === 'channel.test';
}

/** A notification or a channel's health, as far as it is folded. */
export interface FoldedState<Value> {
  readonly value: Value;
  /** Of the last event in it. */
  readonly offset: number;
}
