// The share link in a notification. The link itself is recorded nowhere; it is computed for each attempt.
import { firedDataOf, type NotificationPayload } from '@lead-scoring/contracts';
import type { ShareLink, ShareLinks } from '../share-links.js';
import type { Notification } from './state.js';

/** The link to send now; null for a notification without one, for an expired one, or when its key is no longer in force. */
export function linkToSend(
  { payload, share }: Pick<Notification, 'payload' | 'share'>,
  links: ShareLinks | null,
  at: Date,
): ShareLink | null {
  const fired = firedDataOf(payload);
  if (!fired || !share || Date.parse(share.expires_at) <= at.getTime()) return null;
  return links?.made(fired.firing_id, share.id) ?? null;
}

export function withLink(payload: NotificationPayload, { url }: ShareLink): NotificationPayload {
  return { ...payload, data: { ...payload.data, share_url: url } } as NotificationPayload;
}
