// Sends to webhooks: the payload, signed.
import { deliveryHeader, shownPartsOf, signingContext } from '@lead-scoring/contracts';
import type { Outbound } from '@lead-scoring/outbound';
import type { Channel } from '../../configuration/state.js';
import { signatureHeaders } from '../sign.js';
import { post } from './http.js';
import type { Secrets, Send } from './sender.js';

export function createWebhookSender(
  outbound: Pick<Outbound, 'check' | 'request'>,
  secrets: Secrets,
): Send<'webhook'> {
  return ({ channel, config, notification_id, payload, at, signal }) => {
    const body = JSON.stringify(payload);
    const authorization =
      config.auth_header === undefined ? null : secrets.unseal(config.auth_header.sealed, channel.id);
    const url = typeof config.url === 'string' ? config.url : secrets.unseal(config.url.sealed, channel.id);
    return post(outbound, {
      url,
      headers: {
        'content-type': 'application/json',
        ...signatureHeaders({
          id: notification_id,
          at,
          body,
          secrets: signingKeysOf(channel, at).map(({ key_id, secret }) =>
            secret === undefined
              ? secrets.signingSecret(key_id)
              : secrets.unseal(secret, signingContext(key_id)),
          ),
        }),
        [deliveryHeader]: notification_id,
        ...(authorization !== null && { authorization }),
      },
      body,
      at,
      signal,
      secrets: [...secretPartsOf(url), ...(authorization === null ? [] : [authorization])],
    });
  };
}

/** The parts of the address that are removed from a recorded answer; a short path is no secret. */
function secretPartsOf(url: string): string[] {
  if (!URL.canParse(url)) return [url];
  const { pathname, search } = new URL(url);
  const shown = shownPartsOf(url);
  return shown?.last_four ? [url, `${pathname}${search}`] : [url];
}

/** The current key first, and the previous key until the overlap after a rotation ends. */
export function signingKeysOf(
  { signing }: Pick<Channel, 'signing'>,
  at: Date,
): Pick<Channel['signing'], 'key_id' | 'secret'>[] {
  const { previous } = signing;
  return previous && at.getTime() < Date.parse(previous.valid_until) ? [signing, previous] : [signing];
}
