// The commands and events of delivery.
import { records, type RecordDeclaration } from '@lead-scoring/contracts';
import type { Caller } from './state.js';

/** The declaration of each command. */
export const deliveryCommands = {
  RequestNotification: records.requestNotification,
  TestChannel: records.testChannel,
  RecordAttempt: records.recordAttempt,
  ResumeChannel: records.resumeChannel,
  RedeliverNotification: records.redeliverNotification,
  RedeliverNotifications: records.redeliverNotifications,
  ForgetLead: records.forgetLead,
  ForgetAccount: records.forgetAccount,
  BeginDelivery: records.beginDelivery,
};

export type NotificationEvent =
  | { type: 'NotificationRequested'; payload: records.NotificationRequested; caller: Caller | null }
  | { type: 'NotificationAttempted'; payload: records.NotificationAttempted };

/** One event for many notifications. */
export interface RedeliveryEvent {
  type: 'NotificationsRedelivered';
  payload: records.NotificationsRedelivered;
}

/** One event for all notifications of a lead or account to a channel; each notification says whom it is about. */
export interface ForgettingEvent {
  type: 'NotificationsForgotten';
  payload: records.NotificationsForgotten;
}

export type ChannelEvent =
  | { type: 'ChannelPaused'; payload: records.ChannelPaused }
  | { type: 'ChannelResumed'; payload: records.ChannelResumed };

export type DeliveryEvent = NotificationEvent | RedeliveryEvent | ForgettingEvent | ChannelEvent;

/** The declaration of each event. */
export const deliveryRecords = {
  NotificationRequested: records.notificationRequested,
  NotificationAttempted: records.notificationAttempted,
  NotificationsRedelivered: records.notificationsRedelivered,
  NotificationsForgotten: records.notificationsForgotten,
  ChannelPaused: records.channelPaused,
  ChannelResumed: records.channelResumed,
} satisfies { readonly [Type in DeliveryEvent['type']]: RecordDeclaration };

/** Ids of the notifications that an event names. */
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
