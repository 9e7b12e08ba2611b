// Which notifications are forgotten with a deleted lead. Pure. A notification has the position of the record that caused it; a
// deletion forgets the notifications that earlier records of its topic caused.
import type { records } from '@lead-scoring/contracts';
import { firedOf, type Notification } from './state.js';

export function isForgotten(
  notification: Pick<Notification, 'ou_id' | 'channel_id' | 'payload'>,
  { ou_id, channel_id, lead_id, before }: records.NotificationsForgotten,
): boolean {
  const fired = firedOf(notification);
  if (fired?.lead.id !== lead_id || notification.channel_id !== channel_id || notification.ou_id !== ou_id)
    return false;
  const [topic, , offset] = fired.position.split(':');
  return topic === before.topic && Number(offset) < before.offset;
}
