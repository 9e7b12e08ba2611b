// The settings of delivery, from the environment.
import { privateTargetsSetting } from '@lead-scoring/outbound';
import { setting } from '@lead-scoring/service';
import { z } from 'zod';
import { publishedLimits, type ChannelLimits } from './limits.js';
import { publishedPolicy, publishedSchedule, type DeliveryPolicy } from './schedule-model.js';
import type { MailSettings } from './senders/email.js';
import type { DestinationType } from './senders/sender.js';
import type { SlackSettings } from './senders/slack.js';

const seconds = z
  .string()
  .regex(
    /^\d{1,7}(,\d{1,7}){0,31}$/,
    'must be 1 to 32 numbers of seconds separated by commas, for example 0,5,300',
  )
  .transform((text) => text.split(',').map(Number));

/** Part of the service's settings. */
export const deliverySettings = {
  SLACK_BOT_TOKEN: z
    .string()
    .min(1, 'must be 1 to 500 characters')
    .max(500, 'must be 1 to 500 characters')
    .optional()
    .describe(
      'The token of the bot that posts to Slack. Without it, attempts on Slack channels fail with `not_set_up`.',
    ),
  SLACK_API_URL: setting.httpUrl
    .optional()
    .describe("The address of Slack's API. Without it: that of Slack."),
  SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/\S+$/, 'must be a URL that starts with smtp:// or smtps://')
    .optional()
    .describe(
      'The mail server, with user and password where it needs them. Without it, attempts on e-mail channels fail with `not_set_up`.',
    ),
  MAIL_FROM: z
    .string()
    .max(320)
    .regex(/^[^\s@,;<>]+@[^\s@,;<>]+$/, 'must be an e-mail address')
    .optional()
    .describe('The address that e-mail is sent from.'),
  RETRY_SCHEDULE_SECONDS: seconds
    .default([...publishedSchedule])
    .describe('Seconds before each attempt to deliver a notification, one attempt a number.'),
  PAUSE_CHANNEL_AFTER_SECONDS: setting
    .whole(1, 31_536_000)
    .default(publishedPolicy.pauseAfterMs / 1_000)
    .describe('Seconds without a success after which a channel is paused.'),
  PROBE_CHANNEL_SECONDS: setting
    .whole(1, 86_400)
    .default(publishedPolicy.probeEveryMs / 1_000)
    .describe('Seconds between two probes of a paused channel.'),
  WEBHOOKS_PER_SECOND: setting
    .whole(1, 100_000)
    .default(publishedLimits.webhook.perSecond)
    .describe('The most requests to one webhook channel per second.'),
  WEBHOOKS_AT_ONCE: setting
    .whole(1, 1_000)
    .default(publishedLimits.webhook.concurrency)
    .describe('The most requests to one webhook channel at the same time.'),
  ALLOW_PRIVATE_TARGETS: privateTargetsSetting.describe(
    'The private addresses that requests to addresses of users may reach, as host:port or host:from-to, separated by commas.',
  ),
};

export type DeliverySettings = z.infer<z.ZodObject<typeof deliverySettings>>;

export function policyOf({
  RETRY_SCHEDULE_SECONDS,
  PAUSE_CHANNEL_AFTER_SECONDS,
  PROBE_CHANNEL_SECONDS,
}: DeliverySettings): DeliveryPolicy {
  return {
    schedule: RETRY_SCHEDULE_SECONDS,
    pauseAfterMs: PAUSE_CHANNEL_AFTER_SECONDS * 1_000,
    probeEveryMs: PROBE_CHANNEL_SECONDS * 1_000,
  };
}

export function limitsOf({
  WEBHOOKS_PER_SECOND: perSecond,
  WEBHOOKS_AT_ONCE: concurrency,
}: DeliverySettings): Record<DestinationType, ChannelLimits> {
  return { ...publishedLimits, webhook: { concurrency, perSecond, burst: perSecond } };
}

/** null where something is missing. */
export function slackOf({ SLACK_BOT_TOKEN, SLACK_API_URL }: DeliverySettings): SlackSettings | null {
  return SLACK_BOT_TOKEN === undefined ? null : { token: SLACK_BOT_TOKEN, apiUrl: SLACK_API_URL };
}

/** null where something is missing. */
export function mailOf({ SMTP_URL, MAIL_FROM }: DeliverySettings): MailSettings | null {
  return SMTP_URL === undefined || MAIL_FROM === undefined ? null : { url: SMTP_URL, from: MAIL_FROM };
}
