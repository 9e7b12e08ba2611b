// What happens to notifications and channels.
import type { records } from '@lead-scoring/contracts';
import type { Caller } from './state.js';

export type NotificationEvent =
  | { type: 'NotificationRequested'; payload: records.NotificationRequested; caller: Caller | null }
  | { type: 'NotificationAttempted'; payload: records.NotificationAttempted };

/** One event of many notifications. */
export interface RedeliveryEvent {
  type: 'NotificationsRedelivered';
  payload: records.NotificationsRedelivered;
}

/** One event of all notifications that told a channel of a lead; which they are, they say themselves. */
export interface ForgettingEvent {
  type: 'NotificationsForgotten';
  payload: records.NotificationsForgotten;
}

export type ChannelEvent =
  | { type: 'ChannelPaused'; payload: records.ChannelPaused }
  | { type: 'ChannelResumed'; payload: records.ChannelResumed };

export type DeliveryEvent = NotificationEvent | RedeliveryEvent | ForgettingEvent | ChannelEvent;

/** The notifications that an event names. */
export function notificationsIn(event: DeliveryEvent): readonly string[] {
  switch (event.type) {
    case 'NotificationRequested':
    case 'NotificationAttempted':
      return [event.payload.notification_id];
    case 'NotificationsRedelivered':
      return event.payload.notification_ids;
    case 'NotificationsForgotten':
    case 'ChannelPaused':
    case 'ChannelResumed':
      return [];
  }
}
