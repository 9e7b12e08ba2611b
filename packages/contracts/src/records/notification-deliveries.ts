// Commands and events of notifications: their requests and every delivery attempt.
import { z } from 'zod';
import { id, time } from '../common.js';
import { happened, requested } from '../vocabulary/actor.js';
import { notificationPayload } from '../vocabulary/webhook.js';
import { causingRecord } from './notification-firings.js';
import { jobRecords } from './jobs.js';
import { defineRecord, type PayloadOf } from './record.js';

const channel = { ou_id: id, channel_id: id };
const notification = { ...channel, notification_id: id.describe("The receiver's `webhook-id`.") };

/**
 * The share link in a notification. Its token is stored nowhere: it is derived again whenever the notification is sent.
 */
const share = z
  .strictObject({ id, expires_at: time })
  .optional()
  .describe(
    "The share link that is sent along, as the payload's share_url, until it ends; the payload here is without it. Absent: none was made.",
  );

export const requestNotification = defineRecord({
  type: 'RequestNotification',
  topic: 'notification.commands',
  key: 'channel_id',
  description:
    'Deliver this. Sent in the transaction of its cause: by the service to itself when a trigger fires, by the gateway when a quota is nearly used.',
  schema: z.strictObject({ ...notification, payload: notificationPayload, share, requested_at: time }),
});
export type RequestNotification = PayloadOf<typeof requestNotification>;

export const testChannel = defineRecord({
  type: 'TestChannel',
  topic: 'notification.commands',
  key: 'channel_id',
  description: 'Send a test message now. Replied to when the one attempt has ended.',
  schema: z.strictObject({ ...notification, ...requested }),
});
export type TestChannel = PayloadOf<typeof testChannel>;

/** The outcome of one attempt. */
const attempt = {
  attempt: z.int().min(1).max(10_000).describe('Of this notification, counted from 1, through redeliveries.'),
  attempted_at: time,
  duration_ms: z.int().min(0).max(3_600_000),
  status: z.int().min(100).max(999).optional().describe('What was answered, of HTTP or SMTP.'),
  detail: z.string().max(1_000).describe('What happened, in a sentence.'),
  response: z.string().max(20_000).optional().describe('The beginning of the answer, as text.'),
  deferred: z
    .array(z.string().regex(/^[0-9a-f]{16}$/))
    .min(1)
    .max(1_000)
    .optional()
    .describe(
      'Of an e-mail that was taken for some recipients: the others that are to be tried again, and only they, each as the beginning of the SHA-256 of its address.',
    ),
};

export const failureReason = z
  .enum([
    'status',
    'rate_limited',
    'gone',
    'timeout',
    'unreachable',
    'refused',
    'rejected',
    'malformed',
    'not_set_up',
    'internal',
  ])
  .describe(
    'status: an answer that is not 2xx; gone: the receiver wants nothing more; refused: the address is not a public one; rejected: this message will never be taken; not_set_up: the service lacks a setting.',
  );
export type FailureReason = z.infer<typeof failureReason>;

export const recordAttempt = defineRecord({
  type: 'RecordAttempt',
  topic: 'notification.commands',
  key: 'channel_id',
  description: 'An attempt to deliver has ended: record how. Sent by the service to itself.',
  mayWait: true,
  schema: z.strictObject({
    ...notification,
    ...attempt,
    outcome: z.enum(['delivered', 'failed', 'cancelled']),
    reason: failureReason.optional(),
    retry_after_seconds: z.int().min(0).max(31_536_000).optional().describe('What the receiver asked for.'),
  }),
});
export type RecordAttempt = PayloadOf<typeof recordAttempt>;

export const resumeChannel = defineRecord({
  type: 'ResumeChannel',
  topic: 'notification.commands',
  key: 'channel_id',
  description: 'Deliver to a paused channel again.',
  schema: z.strictObject({
    ...channel,
    cause: z
      .enum(['request', 'replacement'])
      .describe('replacement: the channel was given another destination, or deleted.'),
    configuration_version: z
      .int()
      .min(0)
      .optional()
      .describe("Of the OU's channels and triggers: what has to be in force before anything is sent."),
    ...requested,
  }),
});
export type ResumeChannel = PayloadOf<typeof resumeChannel>;

export const redeliverNotification = defineRecord({
  type: 'RedeliverNotification',
  topic: 'notification.commands',
  key: 'ou_id',
  description: "Deliver a notification once more. Forwarded to the channel's partition, which replies.",
  schema: z.strictObject({ ou_id: id, notification_id: id, redelivery_id: id, ...requested }),
});
export type RedeliverNotification = PayloadOf<typeof redeliverNotification>;

export const redeliverNotifications = defineRecord({
  type: 'RedeliverNotifications',
  topic: 'notification.commands',
  key: 'channel_id',
  description:
    'Deliver these notifications of a channel once more. Sent by the service to itself, for one notification or for a step of a redelivery.',
  schema: z.strictObject({
    ...channel,
    redelivery_id: id,
    notification_ids: z.array(id).min(1).max(500).optional(),
    since: time.optional().describe('In records of before StartRedelivery, for which it stands.'),
    undelivered_only: z.boolean().optional(),
    after: z.string().max(100).optional().describe('In records of before StartRedelivery.'),
    ...requested,
  }),
});
export type RedeliverNotifications = PayloadOf<typeof redeliverNotifications>;

export const startRedelivery = defineRecord({
  type: 'StartRedelivery',
  topic: 'notification.commands',
  key: 'channel_id',
  description: 'Deliver all notifications of a channel since a time once more, as a job.',
  schema: z.strictObject({
    ...channel,
    job_id: id,
    since: time,
    undelivered_only: z.boolean(),
    ...requested,
  }),
});
export type StartRedelivery = PayloadOf<typeof startRedelivery>;

const redelivery = z.strictObject({
  kind: z.literal('redelivery'),
  channel_id: id,
  since: time,
  undelivered_only: z.boolean(),
});
/** What the jobs of the notification service are to do. */
export const notificationWork = z.discriminatedUnion('kind', [redelivery]);
export type NotificationWork = z.infer<typeof notificationWork>;

export const notificationJobs = jobRecords('notification', notificationWork);

const before = causingRecord.describe('Notifications that earlier records of this topic caused.');

export const forgetLead = defineRecord({
  type: 'ForgetLead',
  topic: 'notification.commands',
  key: 'channel_id',
  description:
    'The lead was deleted: forget what the channel was told of it. Sent by the service to itself, in the transaction that forgot its firings.',
  schema: z.strictObject({ ...channel, lead_id: id, before, requested_at: time }),
});
export type ForgetLead = PayloadOf<typeof forgetLead>;

export const forgetAccount = defineRecord({
  type: 'ForgetAccount',
  topic: 'notification.commands',
  key: 'channel_id',
  description:
    'The account has no leads any more: forget what the channel was told of it. Sent by the service to itself, in the transaction that forgot its firings.',
  schema: z.strictObject({ ...channel, account_id: id, before, requested_at: time }),
});
export type ForgetAccount = PayloadOf<typeof forgetAccount>;

export const beginDelivery = defineRecord({
  type: 'BeginDelivery',
  topic: 'notification.commands',
  key: 'delivery_owner',
  description:
    'Sent by whoever has taken over a partition to that partition: when it is decided, every attempt recorded before is, and what is due may be sent.',
  schema: z.strictObject({ owner: id, requested_at: time }),
});
export type BeginDelivery = PayloadOf<typeof beginDelivery>;

export const notificationRequested = defineRecord({
  type: 'NotificationRequested',
  topic: 'notification.events',
  key: 'channel_id',
  description:
    'A notification is to be delivered. Of a test, the headers reply-to and correlation-id name the caller that waits.',
  schema: z.strictObject({ ...notification, payload: notificationPayload, share, ...happened }),
});
export type NotificationRequested = PayloadOf<typeof notificationRequested>;

export const notificationAttempted = defineRecord({
  type: 'NotificationAttempted',
  topic: 'notification.events',
  key: 'channel_id',
  description: 'An attempt to deliver a notification has ended.',
  schema: z.strictObject({
    ...notification,
    ...attempt,
    outcome: z
      .enum(['delivered', 'retrying', 'failed', 'cancelled'])
      .describe('failed: no attempt is left; cancelled: the channel was deleted.'),
    reason: failureReason.optional(),
    next_attempt_at: time.optional().describe('Of a retry; absent while the channel is paused.'),
  }),
});
export type NotificationAttempted = PayloadOf<typeof notificationAttempted>;

export const notificationsRedelivered = defineRecord({
  type: 'NotificationsRedelivered',
  topic: 'notification.events',
  key: 'channel_id',
  description: 'Notifications are to be delivered once more, with the schedule from its beginning.',
  schema: z.strictObject({
    ...channel,
    redelivery_id: id,
    notification_ids: z.array(id).min(1).max(500),
    ...happened,
  }),
});
export type NotificationsRedelivered = PayloadOf<typeof notificationsRedelivered>;

export const notificationsForgotten = defineRecord({
  type: 'NotificationsForgotten',
  topic: 'notification.events',
  key: 'channel_id',
  description:
    'The lead was deleted, or the account has no leads any more: notifications that told of it are gone with their attempts, and those that wait are not sent.',
  schema: z.strictObject({
    ...channel,
    lead_id: id.optional().describe('The lead; absent where account_id is there.'),
    account_id: id.optional().describe('The account; absent where lead_id is there.'),
    before,
    at: time,
  }),
});
export type NotificationsForgotten = PayloadOf<typeof notificationsForgotten>;

export const pausedReason = z
  .enum(['gone', 'failing'])
  .describe('gone: the receiver wants nothing more (410); failing: nothing but failures for five days.');

export const channelPaused = defineRecord({
  type: 'ChannelPaused',
  topic: 'notification.events',
  key: 'channel_id',
  description: 'A channel is paused: its notifications wait.',
  schema: z.strictObject({
    ...channel,
    reason: pausedReason,
    failing_since: time,
    detail: z.string().max(1_000).describe('What happened last.'),
    at: time,
  }),
});
export type ChannelPaused = PayloadOf<typeof channelPaused>;

export const channelResumed = defineRecord({
  type: 'ChannelResumed',
  topic: 'notification.events',
  key: 'channel_id',
  description: 'A channel is delivered to again.',
  schema: z.strictObject({ ...channel, cause: z.enum(['success', 'request', 'replacement']), ...happened }),
});
export type ChannelResumed = PayloadOf<typeof channelResumed>;

export const notificationDeliveryRecords = [
  requestNotification,
  testChannel,
  recordAttempt,
  resumeChannel,
  redeliverNotification,
  redeliverNotifications,
  startRedelivery,
  notificationJobs.continueJob,
  notificationJobs.cancelJob,
  forgetLead,
  forgetAccount,
  beginDelivery,
  notificationRequested,
  notificationAttempted,
  notificationsRedelivered,
  notificationsForgotten,
  channelPaused,
  channelResumed,
  notificationJobs.jobStarted,
  notificationJobs.jobAdvanced,
  notificationJobs.jobEnded,
  notificationJobs.jobCancelled,
] as const;
