// One function that sends to any type of channel.
import type { Outbound } from '@lead-scoring/outbound';
import type { Channel } from '../../configuration/state.js';
import type { ShareLinks } from '../../share-links.js';
import { linkToSend, withLink } from '../sent-link.js';
import type { Notification } from '../state.js';
import { createEmailSender, type MailSettings } from './email.js';
import { attemptTimeoutMs, failed, withoutSecrets, type AttemptResult, type Secrets } from './sender.js';
import { createSlackSender, type SlackSettings } from './slack.js';
import { createTeamsSender } from './teams.js';
import { createWebhookSender } from './webhook.js';

/** Sends a notification once; resolves within the time limit whatever the destination does. */
export type SendNotification = (
  channel: Channel,
  notification: Pick<Notification, 'notification_id' | 'payload' | 'share' | 'deferred'>,
  attempt: { at: Date; signal: AbortSignal },
) => Promise<AttemptResult>;

export interface SenderDependencies {
  outbound: Pick<Outbound, 'check' | 'request'>;
  secrets: Secrets;
  /** null: notifications have no share links. */
  shareLinks: ShareLinks | null;
  /** null: not set up. */
  slack: SlackSettings | null;
  mail: MailSettings | null;
  /** Time limit of an attempt. */
  timeoutMs?: number;
}

/** A fault of the deployment that no retry mends; the attempt records it. */
class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

/** Unseals secrets; an error is a `SecretUnreadable`. */
function withReadErrors(secrets: Secrets): Secrets {
  return {
    signingSecret: (keyId) => secrets.signingSecret(keyId),
    unseal: (sealed, context) => {
      try {
        return secrets.unseal(sealed, context);
      } catch (cause) {
        throw new SecretUnreadable('a secret of the channel cannot be opened', { cause });
      }
    },
  };
}

export function createSenders({
  outbound,
  secrets,
  shareLinks,
  slack,
  mail,
  timeoutMs = attemptTimeoutMs,
}: SenderDependencies): SendNotification {
  const readable = withReadErrors(secrets);
  const webhook = createWebhookSender(outbound, readable);
  const teams = createTeamsSender(outbound, readable);
  const toSlack = createSlackSender(slack);
  const email = createEmailSender(mail);

  async function sendWithLink(...[channel, notification, attempt]: Parameters<SendNotification>) {
    const link = linkToSend(notification, shareLinks, attempt.at);
    if (!link) return sendBy(channel, notification, attempt);
    const { detail, response, ...result } = await sendBy(
      channel,
      { ...notification, payload: withLink(notification.payload, link) },
      attempt,
    );
    const kept = (text: string) => withoutSecrets(text, [link.token]);
    return { ...result, detail: kept(detail), ...(response !== undefined && { response: kept(response) }) };
  }

  function sendBy(
    ...[channel, { notification_id, payload, deferred }, attempt]: Parameters<SendNotification>
  ): Promise<AttemptResult> {
    const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(timeoutMs)]);
    const sending = { channel, notification_id, payload, deferred, at: attempt.at, signal };
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
  }

  return async (channel, notification, attempt) => {
    try {
      return await sendWithLink(channel, notification, attempt);
    } catch (error) {
      if (error instanceof SecretUnreadable)
        return failed(
          'internal',
          'A secret of the channel cannot be opened: it was sealed with neither SEALING_SECRET nor SEALING_SECRET_PREVIOUS.',
        );
      throw error;
    }
  };
}
