// The commands that delivery takes, and what happens to notifications and channels.
import { records, type RecordDeclaration } from '@lead-scoring/contracts';
import type { Caller } from './state.js';

/** How each command is declared on the log. */
export const deliveryCommands = {
  RequestNotification: records.requestNotification,
  TestChannel: records.testChannel,
  RecordAttempt: records.recordAttempt,
  ResumeChannel: records.resumeChannel,
  RedeliverNotification: records.redeliverNotification,
  RedeliverNotifications: records.redeliverNotifications,
  ForgetLead: records.forgetLead,
  BeginDelivery: records.beginDelivery,
};

export type NotificationEvent =
  | { type: 'NotificationRequested'; payload: records.NotificationRequested; caller: Caller | null }
  | { type: 'NotificationAttempted'; payload: records.NotificationAttempted };

/** One event of many notifications. */
export interface RedeliveryEvent {
  type: 'NotificationsRedelivered';
  payload: records.NotificationsRedelivered;
}

/** One event of all notifications that told a channel of a lead; the notifications themselves say whether they did. */
export interface ForgettingEvent {
  type: 'NotificationsForgotten';
  payload: records.NotificationsForgotten;
}

export type ChannelEvent =
  | { type: 'ChannelPaused'; payload: records.ChannelPaused }
  | { type: 'ChannelResumed'; payload: records.ChannelResumed };

export type DeliveryEvent = NotificationEvent | RedeliveryEvent | ForgettingEvent | ChannelEvent;

/** How each event is declared on the log. */
export const deliveryRecords = {
  NotificationRequested: records.notificationRequested,
  NotificationAttempted: records.notificationAttempted,
  NotificationsRedelivered: records.notificationsRedelivered,
  NotificationsForgotten: records.notificationsForgotten,
  ChannelPaused: records.channelPaused,
  ChannelResumed: records.channelResumed,
} satisfies { readonly [Type in DeliveryEvent['type']]: RecordDeclaration };

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
