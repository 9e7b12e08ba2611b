// Notification channels: where the OU's notifications go.
import { z } from 'zod';
import { id, name, pastTimeParameter, text, time, warned } from '../common.js';
import { actor } from '../vocabulary/actor.js';
import { pausedReason } from '../records/notification-deliveries.js';
import { redeliveryStarted } from './deliveries.js';
import { defineRoute, editor, viewer } from './route.js';

const own = { owner: 'notification', kind: 'command', access: editor, tag: 'Notification channels' } as const;
const parameters = z.strictObject({ id });

/** Maximum number of channels in an OU (API.md, Limits). */
export const maximumChannels = 200;

/** The display form of a secret: an ellipsis and the last four characters. */
const shownSecret = text(5)
  .regex(/^….{0,4}$/)
  .describe('The last four characters; the whole is never shown.')
  .meta({ example: '…abcd' });

const url = text(2_048, { trimmed: true }).regex(
  // oxlint-disable-next-line no-control-regex
  /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\u0000-\u001f\u007f]+$/,
  'must be an address that starts with https:// or http://',
);
const shown = '…[\\x21-\\x7e]{0,4}';
/** Pattern for the published documents. `areMailboxes` accepts the same lists, in one pass over each address. */
const mailbox =
  "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:[.][A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?){0,20}";
const localPart = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+$/;
const domainLabel = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;

function isMailbox(address: string): boolean {
  const [local = '', domain = '', ...more] = address.split('@');
  const labels = domain.split('.');
  return (
    more.length === 0 &&
    local.length <= 64 &&
    localPart.test(local) &&
    labels.length <= 21 &&
    labels.every((label) => label.length <= 63 && domainLabel.test(label))
  );
}

function areMailboxes(list: string): boolean {
  const addresses = list.split(',');
  return addresses.length <= 50 && addresses.every((address) => isMailbox(withoutSpaces(address)));
}

/** Removes spaces around the address; other white space is not allowed in a list of addresses. */
function withoutSpaces(address: string): string {
  return address.replace(/^ +|(?<! ) +$/g, '');
}

const slackForm = z.strictObject({
  channel_id: text(80, { trimmed: true })
    .regex(/^[A-Za-z0-9#_.-]+$/, 'must be the id of a Slack channel, such as C0123456789')
    .meta({ example: 'C0123456789' }),
  channel_name: name(100).describe('Display name.').meta({ example: '#sales' }),
});
const teamsForm = z.strictObject({
  webhook_url: text(2_048, { trimmed: true })
    .regex(
      new RegExp(`^(?:[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\u0000-\\u001f\\u007f]+|${shown})$`),
      'must be an address that starts with https:// or http://, or the shortened form of the one that the channel has',
    )
    .describe('Write-only. In a PUT the shortened form, as answers have it, keeps the address.')
    .meta({ example: 'https://prod-01.westeurope.logic.azure.com/workflows/1' }),
  channel_name: name(100).describe('Display name.').meta({ example: 'Sales' }),
});
const webhookForm = z.strictObject({
  url: url
    .describe(
      'Gets POST requests. A secret: shown as scheme, host and the last four characters. In a PUT the shortened form, as answers have it, keeps the address.',
    )
    .meta({ example: 'https://example.com/hooks/lead-scoring' }),
  auth_header: text(2_000, { trimmed: true })
    .regex(
      new RegExp(`^(?:[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?|${shown})$`),
      'must be the value of an Authorization header in plain ASCII, or the shortened form of the one that the channel has',
    )
    .optional()
    .describe(
      'Sent as Authorization. Write-only. In a PUT the shortened form, as answers have it, keeps the value; without it the channel has none any more.',
    ),
});
const emailForm = z.strictObject({
  recipients: text(4_000, { trimmed: true })
    .refine(areMailboxes, 'must be one to fifty e-mail addresses, separated by commas')
    .meta({
      pattern: `^${mailbox}(?: *, *${mailbox}){0,49}$`,
      example: 'ada@example.com, grace@example.com',
    }),
  subject_prefix: name(100).optional().describe('In front of every subject.'),
});

const form = z
  .discriminatedUnion(
    'type',
    [
      z
        .strictObject({ name: name(100), type: z.literal('webhook'), config: webhookForm })
        .meta({ id: 'WebhookChannelForm' }),
      z
        .strictObject({ name: name(100), type: z.literal('slack'), config: slackForm })
        .meta({ id: 'SlackChannelForm' }),
      z
        .strictObject({ name: name(100), type: z.literal('teams'), config: teamsForm })
        .meta({ id: 'TeamsChannelForm' }),
      z
        .strictObject({ name: name(100), type: z.literal('email'), config: emailForm })
        .meta({ id: 'EmailChannelForm' }),
    ],
    { error: 'must be slack, teams, webhook or email' },
  )
  .meta({ id: 'NotificationChannelForm' });
export type NotificationChannelForm = z.infer<typeof form>;

export const channelStatus = z
  .enum(['active', 'failing', 'paused'])
  .describe('failing: the last attempt failed; paused: nothing is sent but a probe each hour.');

const channelFields = {
  id,
  unit_id: id.describe('The OU that the channel belongs to.'),
  name: z.string().max(100),
  created_at: time,
  updated_at: time,
  changed_by: actor.optional().describe('Who made the latest change, where it is known.'),
  status: channelStatus,
  paused_reason: pausedReason.optional(),
  last_error: z
    .strictObject({ at: time, message: z.string().max(1_000) })
    .optional()
    .describe('The last failure, until an attempt succeeds.'),
};
const signingSecret = z
  .string()
  .max(100)
  .describe('Signs the requests (Standard Webhooks). Shown this once.')
  .meta({ example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' });

const shownUrlText = text(400)
  .describe('Scheme, host and the last four characters; the whole is never shown.')
  .meta({ example: 'https://example.com/…ring' });

const shownChannels = <Secret extends z.ZodRawShape, More extends z.ZodRawShape>(
  prefix: string,
  secret: Secret,
  more: More,
) =>
  z
    .discriminatedUnion('type', [
      z
        .strictObject({
          ...channelFields,
          type: z.literal('webhook'),
          config: z.strictObject({ url: shownUrlText, auth_header: shownSecret.optional() }),
          ...secret,
          ...more,
        })
        .meta({ id: `${prefix}WebhookChannel` }),
      z
        .strictObject({
          ...channelFields,
          type: z.literal('slack'),
          config: z.strictObject({ channel_id: text(80), channel_name: text(100) }),
          ...more,
        })
        .meta({ id: `${prefix}SlackChannel` }),
      z
        .strictObject({
          ...channelFields,
          type: z.literal('teams'),
          config: z.strictObject({ webhook_url: shownSecret, channel_name: text(100) }),
          ...more,
        })
        .meta({ id: `${prefix}TeamsChannel` }),
      z
        .strictObject({
          ...channelFields,
          type: z.literal('email'),
          config: z.strictObject({ recipients: text(4_000), subject_prefix: text(100).optional() }),
          ...more,
        })
        .meta({ id: `${prefix}EmailChannel` }),
    ])
    .meta({ id: `${prefix}NotificationChannel` });

export const notificationChannel = shownChannels('', {}, {});
export type NotificationChannel = z.infer<typeof notificationChannel>;

export const listChannels = defineRoute({
  ...own,
  name: 'listChannels',
  method: 'GET',
  path: '/notification-channels',
  kind: 'query',
  access: viewer,
  summary: 'Notification channels of the OU',
  responses: {
    200: { description: 'Channels, oldest first', schema: z.array(notificationChannel).max(maximumChannels) },
  },
  problems: [],
});

export const createChannel = defineRoute({
  ...own,
  name: 'createChannel',
  method: 'POST',
  path: '/notification-channels',
  summary: 'Create a notification channel',
  description:
    'The answer of a webhook channel shows `signing_secret` this once. Addresses must be public ones; what they lead to is looked at again whenever something is sent.',
  body: form,
  responses: {
    201: {
      description: 'Created',
      schema: shownChannels('New', { signing_secret: signingSecret }, warned),
    },
  },
  problems: [
    'limit_reached',
    'invalid_url',
    'scheme_not_allowed',
    'credentials_in_url',
    'port_not_allowed',
    'address_not_public',
  ],
  showsSecret: true,
});

export const replaceChannel = defineRoute({
  ...own,
  name: 'replaceChannel',
  method: 'PUT',
  path: '/notification-channels/{id}',
  summary: 'Replace every field of a notification channel',
  description:
    'A paused channel is delivered to again. The signing secret stays; POST …/rotate-secret shows a channel that has become a webhook its first.',
  parameters,
  body: form,
  responses: {
    200: {
      description: 'Updated',
      schema: shownChannels('Replaced', {}, warned),
    },
  },
  problems: [
    'notification_channel_not_found',
    'invalid_url',
    'scheme_not_allowed',
    'credentials_in_url',
    'port_not_allowed',
    'address_not_public',
  ],
});

export const deleteChannel = defineRoute({
  ...own,
  name: 'deleteChannel',
  method: 'DELETE',
  path: '/notification-channels/{id}',
  summary: 'Delete a notification channel',
  description:
    'Triggers that had it lose their destination. What waits to be delivered to it is discarded; what was delivered stays on record.',
  parameters,
  responses: { 204: { description: 'Deleted' } },
  problems: ['notification_channel_not_found'],
});

export const testChannel = defineRoute({
  ...own,
  name: 'testChannel',
  method: 'POST',
  path: '/notification-channels/{id}/test',
  summary: 'Send a test message now',
  description: 'One attempt, which the call waits for; also when the channel is paused.',
  parameters,
  responses: {
    200: {
      description: 'What happened',
      schema: z
        .strictObject({
          ok: z.boolean(),
          status: z.int().min(100).max(999).optional().describe("The receiver's, of HTTP or SMTP."),
          detail: z.string().max(1_000),
          duration_ms: z.int().min(0),
        })
        .meta({ id: 'ChannelTest' }),
    },
  },
  problems: ['notification_channel_not_found'],
  // An attempt takes at most 15 seconds; the rest is for the command, the reply and their ways over the log.
  replyTimeoutMs: 22_000,
});

export const rotateChannelSecret = defineRoute({
  ...own,
  name: 'rotateChannelSecret',
  method: 'POST',
  path: '/notification-channels/{id}/rotate-secret',
  summary: 'Give a webhook channel another signing secret',
  description:
    'For 24 hours requests carry two signatures, one of each secret. Shown this once. 409 for channels of other types: they sign nothing.',
  parameters,
  responses: {
    200: {
      description: 'Rotated',
      schema: z.strictObject({ signing_secret: signingSecret, previous_valid_until: time }),
    },
  },
  problems: ['notification_channel_not_found', 'channel_signs_nothing'],
  showsSecret: true,
});

export const resumeChannel = defineRoute({
  ...own,
  name: 'resumeChannel',
  method: 'POST',
  path: '/notification-channels/{id}/resume',
  summary: 'Deliver to a paused channel again',
  description: 'What waited is delivered, oldest first. Changes nothing for a channel that is not paused.',
  parameters,
  responses: {
    200: { description: 'It is active', schema: z.strictObject({ status: z.literal('active') }) },
  },
  problems: ['notification_channel_not_found'],
});

export const redeliverNotifications = defineRoute({
  ...own,
  name: 'redeliverNotifications',
  method: 'POST',
  path: '/notification-channels/{id}/redeliver',
  summary: "Deliver a channel's notifications since a time once more",
  description:
    'Under the ids that they had, so that a receiver which remembers them takes each once. Tests are left out. A job does it: GET /jobs/{id} tells how far it is.',
  parameters,
  body: z
    .strictObject({
      since: pastTimeParameter
        .describe('Notifications from this moment on.')
        .meta({ example: '2026-01-31T09:30:00Z' }),
      undelivered_only: z
        .boolean()
        .default(false)
        .describe('true: only those that were not delivered.')
        .meta({ default: false }),
    })
    .meta({ id: 'Redelivery' }),
  responses: { 200: { description: 'They will be delivered, by a job', schema: redeliveryStarted } },
  problems: ['notification_channel_not_found'],
});
