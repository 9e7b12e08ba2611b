// The states of delivery: a notification on its way to a channel, and a channel's health.
import { firedDataOf, type NotificationPayload, type records } from '@lead-scoring/contracts';

export type FailureReason = records.FailureReason;
export type PauseReason = records.ChannelPaused['reason'];
export type AttemptOutcome = records.NotificationAttempted['outcome'];

/** The caller that waits for the outcome of a test, from the headers of its command. */
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
  /** The share link in the notification. */
  readonly share?: NonNullable<records.NotificationRequested['share']>;
  readonly requested_at: string;
  readonly status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  /** Number of attempts, probes and those before a redelivery included. */
  readonly attempts: number;
  /** Number of the schedule's attempts that are used. */
  readonly tries: number;
  /** Due time of the next attempt, while the notification is pending. */
  readonly due_at: string;
  /** Hashes of the recipients that an e-mail was deferred for; null: all recipients. */
  readonly deferred: readonly string[] | null;
  /** Id of the last redelivery; null for none. */
  readonly redelivery_id: string | null;
  readonly last: LastAttempt | null;
  readonly caller: Caller | null;
}

/** A channel's successes and failures. */
export interface ChannelHealth {
  readonly ou_id: string;
  readonly channel_id: string;
  /** Number of failures since the last success. */
  readonly failures: number;
  /** Time of the first failure after the last success. */
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

/** The id of the lead or account that a notification is about; undefined where it is about none. */
export function subjectIdOf(notification: Pick<Notification, 'payload'>): string | undefined {
  const fired = firedDataOf(notification.payload);
  if (!fired) return undefined;
  return 'account' in fired ? fired.account.id : fired.lead.id;
}

/** Whether a notification is a test of its channel; a test is attempted once. */
export function isTest({ payload }: Pick<Notification, 'payload'>): boolean {
  return payload.type === 'channel.test';
}

/** A folded state: a notification or a channel's health. */
export interface FoldedState<Value> {
  readonly value: Value;
  /** Offset of the last folded event. */
  readonly offset: number;
}
