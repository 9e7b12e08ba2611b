// Deliveries: the notifications sent to the OU's channels, their attempts, and sending them again.
import { z } from 'zod';
import { cursorParameter, id, leadId, page, pageParameters, time } from '../common.js';
import { jobId } from '../records/job-id.js';
import { notificationPayload, triggerKind } from '../vocabulary/webhook.js';
import { failureReason } from '../records/notification-deliveries.js';
import { defineRoute, editor, viewer } from './route.js';

const own = { owner: 'notification', tag: 'Deliveries' } as const;
const parameters = z.strictObject({ id });

export const deliveryStatus = z
  .enum(['pending', 'delivered', 'failed', 'cancelled'])
  .describe(
    'pending: not delivered yet; failed: no attempt is left; cancelled: the channel was deleted before.',
  );
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

const answered = z.int().min(100).max(999).optional();

const deliveryFields = {
  id: id.describe("The notification's: the receiver's `webhook-id`."),
  unit_id: id,
  channel_id: id,
  type: z.string().max(64).meta({ example: 'trigger.milestone.fired' }),
  trigger: z
    .strictObject({ id, name: z.string().max(100), kind: triggerKind })
    .optional()
    .describe('Absent for tests and for warnings of quotas, as firing_id and lead are.'),
  firing_id: id.optional(),
  lead: z
    .strictObject({ id, name: z.string().max(512) })
    .optional()
    .describe('Absent where account is there.'),
  account: z
    .strictObject({ id, name: z.string().max(512) })
    .optional()
    .describe('Of a firing for an account, in place of lead.'),
  status: deliveryStatus,
  attempts: z.int().min(0),
  requested_at: time,
  last_attempt_at: time.optional(),
  next_attempt_at: time.optional(),
  last_status: answered.describe("The receiver's last answer, of HTTP or SMTP."),
  last_error: z.string().max(1_000).optional(),
};

export const delivery = z.strictObject(deliveryFields).meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof delivery>;

export const deliveryAttempt = z
  .strictObject({
    attempt: z.int().min(1),
    at: time,
    duration_ms: z.int().min(0),
    outcome: z.enum(['delivered', 'retrying', 'failed', 'cancelled']),
    reason: failureReason.optional(),
    status: answered,
    detail: z.string().max(1_000),
    response: z.string().max(20_000).optional().describe('The beginning of the answer.'),
    next_attempt_at: time.optional(),
  })
  .meta({ id: 'DeliveryAttempt' });
export type DeliveryAttempt = z.infer<typeof deliveryAttempt>;

export const deliveryWithAttempts = z
  .strictObject({
    ...deliveryFields,
    payload: notificationPayload.describe(
      'What the receiver gets, but for `share_url`: whoever has that address needs no credential, so it is only sent.',
    ),
    attempt_log: z.array(deliveryAttempt).max(100).describe('The newest hundred, newest first.'),
  })
  .meta({ id: 'DeliveryWithAttempts' });
export type DeliveryWithAttempts = z.infer<typeof deliveryWithAttempts>;

/** The answer to a request to deliver notifications again. */
export const redelivered = z.strictObject({ redelivered: z.int().min(0) }).meta({ id: 'Redelivered' });

/** The answer to a request to deliver all notifications of a time again. */
export const redeliveryStarted = z
  .strictObject({
    redelivered: z.int().min(0).describe('How many there are to deliver.'),
    job_id: jobId.describe('Of the job that delivers them.'),
  })
  .meta({ id: 'RedeliveryStarted' });

export const listDeliveries = defineRoute({
  ...own,
  name: 'listDeliveries',
  method: 'GET',
  path: '/deliveries',
  kind: 'query',
  access: viewer,
  summary: 'Notifications and what became of them, newest first',
  query: z
    .strictObject({
      channel_id: id.optional(),
      trigger_id: id.optional(),
      lead_id: leadId.optional(),
      account_id: id.optional().describe('Not with lead_id.'),
      status: deliveryStatus.optional(),
      ...pageParameters,
      cursor: cursorParameter,
    })
    .refine(({ lead_id, account_id }) => lead_id === undefined || account_id === undefined, {
      path: ['account_id'],
      error: 'must be absent where lead_id is given: a notification is about a lead or about an account',
    }),
  responses: { 200: { description: 'Deliveries', schema: page(delivery) } },
  problems: [],
});

export const getDelivery = defineRoute({
  ...own,
  name: 'getDelivery',
  method: 'GET',
  path: '/deliveries/{id}',
  kind: 'query',
  access: viewer,
  summary: 'A notification, what it says, and every attempt',
  parameters,
  responses: { 200: { description: 'Delivery', schema: deliveryWithAttempts } },
  problems: ['delivery_not_found'],
});

export const redeliverNotification = defineRoute({
  ...own,
  name: 'redeliverNotification',
  method: 'POST',
  path: '/deliveries/{id}/redeliver',
  kind: 'command',
  access: editor,
  summary: 'Deliver a notification once more',
  description:
    'Under the id that it had, with the schedule from its beginning. Tests are not sent again: `redelivered` is then 0.',
  parameters,
  responses: { 200: { description: 'It will be delivered', schema: redelivered } },
  problems: ['delivery_not_found', 'notification_channel_not_found'],
});
