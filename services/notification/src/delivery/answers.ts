// The answers of routes on deliveries, attempts and the health of channels.
import { firedDataOf, type records, type routeDeclarations } from '@lead-scoring/contracts';
import type { ChannelHealth, Notification } from './state.js';

export function deliveryAnswer(notification: Notification): routeDeclarations.Delivery {
  const { status, last } = notification;
  const fired = firedDataOf(notification.payload);
  return {
    id: notification.notification_id,
    unit_id: notification.ou_id,
    channel_id: notification.channel_id,
    type: notification.payload.type,
    ...(fired && {
      trigger: fired.trigger,
      firing_id: fired.firing_id,
      ...('account' in fired
        ? { account: { id: fired.account.id, name: fired.account.name } }
        : { lead: { id: fired.lead.id, name: fired.lead.name } }),
    }),
    status,
    attempts: notification.attempts,
    requested_at: notification.requested_at,
    ...(status === 'pending' && { next_attempt_at: notification.due_at }),
    ...(last && { last_attempt_at: last.at }),
    ...(last?.status !== undefined && { last_status: last.status }),
    ...(last && last.outcome !== 'delivered' && { last_error: last.detail }),
  };
}

export function attemptAnswer(event: records.NotificationAttempted): routeDeclarations.DeliveryAttempt {
  const { attempt, attempted_at, duration_ms, outcome, detail } = event;
  const { reason, status, response, next_attempt_at } = event;
  return {
    attempt,
    at: attempted_at,
    duration_ms,
    outcome,
    detail,
    ...(reason !== undefined && { reason }),
    ...(status !== undefined && { status }),
    ...(response !== undefined && { response }),
    ...(next_attempt_at !== undefined && { next_attempt_at }),
  };
}

/** A channel's status, the reason of its pause, and its last error. */
export function healthAnswer(
  health: ChannelHealth | null,
): Pick<routeDeclarations.NotificationChannel, 'status' | 'paused_reason' | 'last_error'> {
  if (!health) return { status: 'active' };
  const { paused, failing_since, last_error } = health;
  return {
    status: paused ? 'paused' : failing_since === null ? 'active' : 'failing',
    ...(paused && { paused_reason: paused.reason }),
    ...(last_error && { last_error: { at: last_error.at, message: last_error.detail } }),
  };
}
