// The senders of all types of channels, behind one function.
import type { Outbound } from '@lead-scoring/outbound';
import type { NotificationPayload } from '@lead-scoring/contracts';
import type { Channel } from '../../configuration/state.js';
import { createEmailSender, type MailSettings } from './email.js';
import { attemptTimeoutMs, type AttemptResult, type Secrets } from './sender.js';
import { createSlackSender, type SlackSettings } from './slack.js';
import { createTeamsSender } from './teams.js';
import { createWebhookSender } from './webhook.js';

/** Tells a channel of a notification, once; answers in time whatever the destination does. */
export type SendNotification = (
  channel: Channel,
  notification: { notification_id: string; payload: NotificationPayload },
  attempt: { at: Date; signal: AbortSignal },
) => Promise<AttemptResult>;

export interface SenderDependencies {
  outbound: Pick<Outbound, 'check' | 'request'>;
  secrets: Secrets;
  /** null: not set up. */
  slack: SlackSettings | null;
  mail: MailSettings | null;
  /** For all of an attempt. */
  timeoutMs?: number;
}

export function createSenders({
  outbound,
  secrets,
  slack,
  mail,
  timeoutMs = attemptTimeoutMs,
}: SenderDependencies): SendNotification {
  const webhook = createWebhookSender(outbound, secrets);
  const teams = createTeamsSender(outbound, secrets);
  const toSlack = createSlackSender(slack);
  const email = createEmailSender(mail);
  return (channel, { notification_id, payload }, attempt) => {
    const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(timeoutMs)]);
    const sending = { channel, notification_id, payload, at: attempt.at, signal };
    const { destination } = channel;
    switch (destination.type) {
      case 'webhook':
        return webhook({ ...sending, config: destination.config });
      case 'teams':
        return teams({ ...sending, config: destination.config });
      case 'slack':
        return toSlack({ ...sending, config: destination.config });
      case 'email':
        return email({ ...sending, config: destination.config });
    }
  };
}
