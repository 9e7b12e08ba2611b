// Makes a channel's destination of a command: new secrets are taken from the command, shortened ones from the channel.
import { shownPartsOf, shownUrl, type records, type ShownUrl, type Warning } from '@lead-scoring/contracts';
import type { Refusal } from './messages.js';
import type { Channel } from './state.js';

export interface DestinationCheck {
  /** Why the destination is refused, judged by its text alone; null when it is allowed. */
  refusalOf(destination: records.ChannelDestination, channelId: string): Refusal | null;
  /** Warnings for settings of the service that the destination needs and that are missing. */
  warningsOf(destination: records.ChannelDestination): Warning[];
}

type StoredUrl = Extract<records.ChannelDestination, { type: 'webhook' }>['config']['url'];

/** The parts of an address that may be shown; null for a text that is not a URL. Older channels have a plain text address. */
export function shownOf(url: StoredUrl): ShownUrl | null {
  return typeof url === 'string' ? shownPartsOf(url) : url;
}

/** An address as its scheme, host and last four characters. */
export function shownAddress(url: StoredUrl): string {
  const shown = shownOf(url);
  return shown ? shownUrl(shown) : '…';
}

/** The destination with its secrets: as sent, or the channel's own where the command has only the last four characters. */
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
  // A secret for one receiver is not sent to another receiver.
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
    message: `${field} is shortened to its last four characters, and this channel has no such secret for this receiver. Send it in full.`,
    errors: [{ path: `body.config.${field}`, message: 'must be sent in full' }],
  };
}
