// Folds events into the states of notifications and channels. Pure.
import type { DeliveryEvent } from './messages.js';
import { isForgotten } from './forget-model.js';
import { healthyChannel, type ChannelHealth, type Notification } from './state.js';

/** The notification after an event; null for an unknown or forgotten notification. */
export function evolveNotification(before: Notification | null, event: DeliveryEvent): Notification | null {
  switch (event.type) {
    case 'NotificationRequested': {
      const { notification_id, ou_id, channel_id, payload, share, at } = event.payload;
      return {
        notification_id,
        ou_id,
        channel_id,
        payload,
        ...(share && { share }),
        requested_at: at,
        status: 'pending',
        attempts: 0,
        tries: 0,
        due_at: at,
        deferred: null,
        redelivery_id: null,
        last: null,
        caller: event.caller,
      };
    }
    case 'NotificationAttempted': {
      if (!before) return null;
      const { attempt, attempted_at, duration_ms, outcome, status, detail, next_attempt_at, deferred } =
        event.payload;
      return {
        ...before,
        status: outcome === 'retrying' ? 'pending' : outcome,
        attempts: attempt,
        // Without a next attempt's time the notification waits for its paused channel: the attempt was a probe, none of the schedule's.
        tries: next_attempt_at === undefined ? before.tries : before.tries + 1,
        due_at: next_attempt_at ?? before.due_at,
        deferred: deferred ?? before.deferred,
        last: {
          at: attempted_at,
          duration_ms,
          outcome,
          detail,
          ...(status !== undefined && { status }),
        },
      };
    }
    case 'NotificationsRedelivered': {
      if (!before) return null;
      const { redelivery_id, at } = event.payload;
      return { ...before, status: 'pending', tries: 0, due_at: at, deferred: null, redelivery_id };
    }
    case 'NotificationsForgotten':
      return before && !isForgotten(before, event.payload) ? before : null;
    case 'ChannelPaused':
    case 'ChannelResumed':
      return before;
  }
}

/** The health of a channel after an event. */
export function evolveHealth(before: ChannelHealth | null, event: DeliveryEvent): ChannelHealth {
  const { ou_id, channel_id } = event.payload;
  const health = before ?? healthyChannel(ou_id, channel_id);
  switch (event.type) {
    case 'NotificationRequested':
    case 'NotificationsRedelivered':
    case 'NotificationsForgotten':
      return health;
    case 'NotificationAttempted': {
      const { outcome, reason, attempted_at: last_attempt_at, detail, deferred } = event.payload;
      if (outcome === 'cancelled') return health;
      // An e-mail that was accepted for some recipients has reached its destination.
      if (outcome === 'delivered' || deferred)
        return { ...health, failures: 0, failing_since: null, last_error: null, last_attempt_at };
      // A failure of this service says nothing about the destination.
      if (reason === 'internal') return { ...health, last_attempt_at };
      return {
        ...health,
        failures: health.failures + 1,
        failing_since: health.failing_since ?? last_attempt_at,
        last_error: { at: last_attempt_at, detail },
        last_attempt_at,
      };
    }
    case 'ChannelPaused':
      return { ...health, paused: { reason: event.payload.reason, at: event.payload.at } };
    case 'ChannelResumed':
      // A resumed channel has the whole time until a pause again.
      return { ...health, paused: null, failures: 0, failing_since: null };
  }
}
