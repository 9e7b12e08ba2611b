// The ids of what a trigger causes: made from their causes, so that deciding the same twice gives the same ids.
import { nameBasedId } from './identity.js';

/**
 * The id of a trigger's firing.
 * @param cause the event, or the decision, that made the trigger fire
 */
export function firingIdOf(triggerId: string, leadId: string, cause: string): string {
  return nameBasedId(triggerId, `firing:${leadId}:${cause}`);
}

/** The id of the notification that tells a channel of a firing: the receiver's `webhook-id`, the same on every attempt. */
export function notificationIdOf(firingId: string, channelId: string): string {
  return nameBasedId(firingId, `notification:${channelId}`);
}
