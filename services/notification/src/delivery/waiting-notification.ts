// A notification that waits to be sent, with only what the deliverer needs to order it.
import { firedOf, isTest, type Notification } from './state.js';

export interface WaitingNotification {
  readonly notification_id: string;
  readonly ou_id: string;
  readonly channel_id: string;
  readonly lead_id: string | null;
  /** Milliseconds since 1970. */
  readonly due: number;
  /** Of the last event in the notification: of two that are due at one time, the earlier goes first. */
  readonly offset: number;
  readonly test: boolean;
}

export function waitingOf(notification: Notification, offset: number): WaitingNotification {
  const { notification_id, ou_id, channel_id, due_at } = notification;
  return {
    notification_id,
    ou_id,
    channel_id,
    lead_id: firedOf(notification)?.lead.id ?? null,
    due: Date.parse(due_at),
    offset,
    test: isTest(notification),
  };
}
