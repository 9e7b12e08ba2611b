// The documents of delivery: notifications, their attempts, pending notifications by channel and due time, and the health of
// channels.
import { firedDataOf, type JsonValue, type records } from '@lead-scoring/contracts';
import {
  Binary,
  binaryToUuid,
  defineCollection,
  packJson,
  unpackJson,
  uuidToBinary,
  type GuardedDocument,
} from '@lead-scoring/read-model';
import { isTest, subjectIdOf, type ChannelHealth, type Notification } from './state.js';
import type { WaitingNotification } from './waiting-notification.js';

export interface DeliveryDocument extends GuardedDocument {
  /** The notification's id. */
  _id: Binary;
  ou: Binary;
  channel: Binary;
  /** The lead or, of a firing for an account, the account. */
  lead: Binary | null;
  trigger: Binary | null;
  firing: Binary | null;
  status: Notification['status'];
  requested: Date;
  /** JSON text of the notification. */
  content: string;
}

export interface AttemptDocument {
  /** The `attemptKey`. */
  _id: Binary;
  partition: number;
  /** JSON text of the event. */
  content: string;
}

/** A pending notification, with the fields by which the deliverer orders it. */
export interface PendingDocument extends GuardedDocument {
  /** The notification's id. */
  _id: Binary;
  ou: Binary;
  channel: Binary;
  /** The lead or the account. */
  lead: Binary | null;
  due: Date;
  test: boolean;
}

export interface HealthDocument extends GuardedDocument {
  /** The channel's id. */
  _id: Binary;
  content: string;
}

export const deliveries = defineCollection<DeliveryDocument>({
  name: 'deliveries',
  indexes: [
    { key: { ou: 1, requested: -1, _id: -1 } },
    { key: { channel: 1, requested: -1, _id: -1 } },
    { key: { lead: 1, requested: -1, _id: -1 } },
    { key: { firing: 1 } },
  ],
});
export const deliveryAttempts = defineCollection<AttemptDocument>({ name: 'delivery_attempts', indexes: [] });
export const pendingDeliveries = defineCollection<PendingDocument>({
  name: 'pending_deliveries',
  indexes: [{ key: { partition: 1, channel: 1, due: 1, _id: 1 } }],
});
export const channelHealth = defineCollection<HealthDocument>({ name: 'channel_health', indexes: [] });

/** A reset drops them in this order. */
export const deliveryCollections = [pendingDeliveries, channelHealth, deliveryAttempts, deliveries];

/** Notification id and number of the attempt: the primary index has the attempts of a notification in order. */
export function attemptKey(notificationId: string, attempt: number): Binary {
  const bytes = Buffer.alloc(20);
  Buffer.from(notificationId.replaceAll('-', ''), 'hex').copy(bytes);
  bytes.writeUInt32BE(attempt, 16);
  return new Binary(bytes, 0);
}

/** The range of keys of a notification's attempts. */
export function attemptsOf(notificationId: string): { $gte: Binary; $lte: Binary } {
  return { $gte: attemptKey(notificationId, 0), $lte: attemptKey(notificationId, 0xffff_ffff) };
}

export function toNotification({ content }: Pick<DeliveryDocument, 'content'>): Notification {
  return unpackJson(content) as unknown as Notification;
}

export function toHealth({ content }: Pick<HealthDocument, 'content'>): ChannelHealth {
  return unpackJson(content) as unknown as ChannelHealth;
}

function optional(id: string | undefined): Binary | null {
  return id === undefined ? null : uuidToBinary(id);
}

export function toDeliveryDocument(
  notification: Notification,
  at: { partition: number; offset: number },
): DeliveryDocument {
  const fired = firedDataOf(notification.payload);
  return {
    _id: uuidToBinary(notification.notification_id),
    ...at,
    ou: uuidToBinary(notification.ou_id),
    channel: uuidToBinary(notification.channel_id),
    lead: optional(subjectIdOf(notification)),
    trigger: optional(fired?.trigger.id),
    firing: optional(fired?.firing_id),
    status: notification.status,
    requested: new Date(notification.requested_at),
    content: packJson(notification as unknown as JsonValue),
  };
}

export function toPendingDocument(
  notification: Notification,
  at: { partition: number; offset: number },
): PendingDocument {
  return {
    _id: uuidToBinary(notification.notification_id),
    ...at,
    ou: uuidToBinary(notification.ou_id),
    channel: uuidToBinary(notification.channel_id),
    lead: optional(subjectIdOf(notification)),
    due: new Date(notification.due_at),
    test: isTest(notification),
  };
}

export function toWaiting({
  _id,
  ou,
  channel,
  lead,
  due,
  offset,
  test,
}: PendingDocument): WaitingNotification {
  return {
    notification_id: binaryToUuid(_id),
    ou_id: binaryToUuid(ou),
    channel_id: binaryToUuid(channel),
    subject_id: lead && binaryToUuid(lead),
    due: due.getTime(),
    offset,
    test,
  };
}

export function toAttemptDocument(event: records.NotificationAttempted, partition: number): AttemptDocument {
  const { notification_id, attempt } = event;
  return {
    _id: attemptKey(notification_id, attempt),
    partition,
    content: packJson(event as unknown as JsonValue),
  };
}

export function toHealthDocument(
  health: ChannelHealth,
  { partition, offset }: { partition: number; offset: number },
): HealthDocument {
  return {
    _id: uuidToBinary(health.channel_id),
    partition,
    offset,
    content: packJson(health as unknown as JsonValue),
  };
}
