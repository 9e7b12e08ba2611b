// Which notifications are forgotten with a deleted lead, or with an account that is gone. Pure. A notification has the position of the
// record that caused it; a deletion forgets the notifications that earlier records of its topic caused.
import { firedDataOf, type records } from '@lead-scoring/contracts';
import { subjectIdOf, type Notification } from './state.js';

/** The id of the lead or account. */
export function forgottenIdIn({ lead_id, account_id }: records.NotificationsForgotten): string | undefined {
  return lead_id ?? account_id;
}

export function isForgotten(
  notification: Pick<Notification, 'ou_id' | 'channel_id' | 'payload'>,
  end: records.NotificationsForgotten,
): boolean {
  const { ou_id, channel_id, before } = end;
  const fired = firedDataOf(notification.payload);
  if (!fired || subjectIdOf(notification) !== forgottenIdIn(end)) return false;
  if (notification.channel_id !== channel_id || notification.ou_id !== ou_id) return false;
  const [topic, , offset] = fired.position.split(':');
  return topic === before.topic && Number(offset) < before.offset;
}
