// The link that is sent along with a notification and recorded nowhere.
import type { NotificationPayload } from '@lead-scoring/contracts';
import type { ShareLink, ShareLinks } from '../share-links.js';
import { firedOf, type Notification } from './state.js';

/** The link as it is sent at this time; null when none was made, when it has ended, or when the key that it was made with is gone. */
export function linkToSend(
  { payload, share }: Pick<Notification, 'payload' | 'share'>,
  links: ShareLinks | null,
  at: Date,
): ShareLink | null {
  const fired = firedOf({ payload });
  if (!fired || !share || Date.parse(share.expires_at) <= at.getTime()) return null;
  return links?.made(fired.firing_id, share.id) ?? null;
}

export function withLink(payload: NotificationPayload, { url }: ShareLink): NotificationPayload {
  return { ...payload, data: { ...payload.data, share_url: url } } as NotificationPayload;
}
