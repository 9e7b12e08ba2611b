// A pending notification with only the fields by which the deliverer orders it.
import { isTest, subjectIdOf, type Notification } from './state.js';

export interface WaitingNotification {
  readonly notification_id: string;
  readonly ou_id: string;
  readonly channel_id: string;
  /** The lead or account that it is about; null where it is about none. */
  readonly subject_id: string | null;
  /** Due time, in milliseconds since 1970. */
  readonly due: number;
  /** Offset of the notification's last event: orders notifications with the same due time. */
  readonly offset: number;
  readonly test: boolean;
  /** The trace that the attempt continues; undefined for a notification that was read from the store, which keeps none. */
  readonly traceparent?: string | undefined;
}

export function waitingOf(
  notification: Notification,
  offset: number,
  traceparent?: string,
): WaitingNotification {
  const { notification_id, ou_id, channel_id, due_at } = notification;
  return {
    notification_id,
    ou_id,
    channel_id,
    subject_id: subjectIdOf(notification) ?? null,
    due: Date.parse(due_at),
    offset,
    test: isTest(notification),
    traceparent,
  };
}
