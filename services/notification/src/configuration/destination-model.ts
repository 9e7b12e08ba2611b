// A channel's destination: the secrets that a command brings, the secrets that the channel keeps, and the parts of an address
// that may be shown.
import { shownPartsOf, shownUrl, type records, type ShownUrl, type Warning } from '@lead-scoring/contracts';
import type { Refusal } from './messages.js';
import type { Channel } from './state.js';

export interface DestinationCheck {
  /** Why nothing can be sent to the destination, as far as its text tells; null when it can. */
  refusalOf(destination: records.ChannelDestination, channelId: string): Refusal | null;
  /** Settings of the service that are missing before anything can be sent there. */
  warningsOf(destination: records.ChannelDestination): Warning[];
}

type StoredUrl = Extract<records.ChannelDestination, { type: 'webhook' }>['config']['url'];

/** Channels from before addresses were sealed have theirs in plain text; null for one that is no URL. */
export function shownOf(url: StoredUrl): ShownUrl | null {
  return typeof url === 'string' ? shownPartsOf(url) : url;
}

/** Scheme, host and the last four characters. */
export function shownAddress(url: StoredUrl): string {
  const shown = shownOf(url);
  return shown ? shownUrl(shown) : '…';
}

/** The destination with its secret: the one that was sent, or the one that the channel has where only its end was sent. */
export function destinationOf(
  written: records.WrittenDestination,
  known: Channel | undefined,
): records.ChannelDestination | Refusal {
  switch (written.type) {
    case 'slack':
    case 'email':
      return written;
    case 'teams': {
      const kept = known?.destination.type === 'teams' ? known.destination.config.webhook_url : undefined;
      const webhook_url = secretOf(written.config.webhook_url, kept);
      if (!webhook_url) return secretNotKept('webhook_url');
      return { type: 'teams', config: { ...written.config, webhook_url } };
    }
    case 'webhook':
      return webhookOf(
        written.config,
        known?.destination.type === 'webhook' ? known.destination.config : undefined,
      );
  }
}

type WebhookConfig = Extract<records.ChannelDestination, { type: 'webhook' }>['config'];

function webhookOf(
  written: Extract<records.WrittenDestination, { type: 'webhook' }>['config'],
  known: WebhookConfig | undefined,
): records.ChannelDestination | Refusal {
  const url = urlOf(written.url, known?.url);
  if (url === undefined) return secretNotKept('url');
  const { auth_header } = written;
  if (!auth_header) return { type: 'webhook', config: { url } };
  const secret = secretOf(auth_header, known?.auth_header);
  if (!secret) return secretNotKept('auth_header');
  // A secret that was given for one receiver is not sent to another.
  if ('kept' in auth_header && known && originOf(url) !== originOf(known.url))
    return secretNotKept('auth_header');
  return { type: 'webhook', config: { url, auth_header: secret } };
}

function urlOf(
  written: string | records.WrittenUrl,
  known: WebhookConfig['url'] | undefined,
): WebhookConfig['url'] | undefined {
  if (typeof written === 'string' || !('kept' in written)) return written;
  const shown = known === undefined ? null : shownOf(known);
  return shown?.origin === written.origin && shown.last_four === written.last_four ? known : undefined;
}

function secretOf(
  written: records.WrittenSecret,
  known: records.SealedSecret | undefined,
): records.SealedSecret | undefined {
  if (!('kept' in written)) return written;
  return known?.last_four === written.last_four ? known : undefined;
}

function originOf(url: WebhookConfig['url']): string {
  return shownOf(url)?.origin ?? '';
}

function secretNotKept(field: 'url' | 'webhook_url' | 'auth_header'): Refusal {
  return {
    code: 'invalid_request',
    message: `${field} is the shortened form of a secret that this channel does not have for this receiver. Send it in full.`,
    errors: [{ path: `body.config.${field}`, message: 'must be sent in full' }],
  };
}
