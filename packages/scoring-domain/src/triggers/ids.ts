// Ids of firings and notifications, computed from their causes, so that a decision that is repeated gives the same ids.
import { nameBasedId } from '@lead-scoring/contracts';
import type { Source } from './messages.js';

/**
 * The id of a trigger's firing.
 * @param cause id of the event or decision that made the trigger fire
 */
export function firingIdOf(triggerId: string, leadId: string, cause: string): string {
  return nameBasedId(triggerId, `firing:${leadId}:${cause}`);
}

/** The id of the notification of a firing to one channel: the header `webhook-id`, the same on every attempt. */
export function notificationIdOf(firingId: string, channelId: string): string {
  return nameBasedId(firingId, `notification:${channelId}`);
}

/** A record's place on the log as text, as notifications name it. */
export function positionText({ topic, partition, offset }: Source): string {
  return `${topic}:${String(partition)}:${String(offset)}`;
}
