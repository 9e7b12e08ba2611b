// What of a webhook's address may be shown.
import { shownPartsOf, shownUrl, type records, type ShownUrl } from '@lead-scoring/contracts';

type StoredUrl = Extract<records.ChannelDestination, { type: 'webhook' }>['config']['url'];

/** Channels of before have their address in plain text; null for one that is no URL. */
export function shownOf(url: StoredUrl): ShownUrl | null {
  return typeof url === 'string' ? shownPartsOf(url) : url;
}

/** Scheme, host and the last four characters. */
export function shownAddress(url: StoredUrl): string {
  const shown = shownOf(url);
  return shown ? shownUrl(shown) : '…';
}
