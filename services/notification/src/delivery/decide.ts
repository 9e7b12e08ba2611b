// Decides on notifications, their attempts, and pauses of channels. Pure: times and ids come with the commands.
import type { ChannelType, records } from '@lead-scoring/contracts';
import type {
  ChannelEvent,
  DeliveryEvent,
  ForgettingEvent,
  NotificationEvent,
  RedeliveryEvent,
} from './messages.js';
import { delayAfter, failuresUntilPaused, type DeliveryPolicy } from './schedule-model.js';
import { isTest, type AttemptOutcome, type Caller, type ChannelHealth, type Notification } from './state.js';

/** Requests a notification; the command again changes nothing. */
export function decideRequest(
  { requested_at, ...requested }: records.RequestNotification,
  known: Notification | null,
): NotificationEvent[] {
  if (known) return [];
  return [{ type: 'NotificationRequested', payload: { ...requested, at: requested_at }, caller: null }];
}

/** Requests the test notification of a channel; the command again changes nothing. */
export function decideTest(
  { notification_id, ou_id, channel_id, requested_at, actor }: records.TestChannel,
  channel: { name: string; type: ChannelType },
  caller: Caller | null,
  known: Notification | null,
): NotificationEvent[] {
  if (known) return [];
  return [
    {
      type: 'NotificationRequested',
      payload: {
        ou_id,
        channel_id,
        notification_id,
        payload: {
          type: 'channel.test',
          timestamp: requested_at,
          data: {
            channel: { id: channel_id, name: channel.name, type: channel.type },
            unit_id: ou_id,
            message: 'This is a test. Notifications of this channel arrive here.',
          },
        },
        at: requested_at,
        actor,
      },
      caller,
    },
  ];
}

/** Records an attempt. An attempt that is recorded already, or of an unknown notification, changes nothing. */
export function decideAttempt(
  command: records.RecordAttempt,
  notification: Notification | null,
  health: ChannelHealth,
  policy: DeliveryPolicy,
): DeliveryEvent[] {
  if (notification?.status !== 'pending' || command.attempt !== notification.attempts + 1) return [];
  const { retry_after_seconds, ...attempt } = command;
  switch (attempt.outcome) {
    case 'cancelled':
      return [attempted(attempt, 'cancelled')];
    case 'delivered':
      return [attempted(attempt, 'delivered'), ...resumeAfter(attempt, health)];
    case 'failed':
      return [
        failed(attempt, notification, { health, policy, retry_after_seconds }),
        ...(attempt.deferred ? resumeAfter(attempt, health) : pauseAfter(attempt, health, policy)),
      ];
  }
}

type Attempt = Omit<records.RecordAttempt, 'retry_after_seconds'>;

function attempted(
  { outcome, reason = 'internal', ...attempt }: Attempt,
  becomes: AttemptOutcome,
  nextAttemptAt?: string,
): NotificationEvent {
  return {
    type: 'NotificationAttempted',
    payload: {
      ...attempt,
      outcome: becomes,
      ...(outcome === 'failed' && { reason }),
      ...(nextAttemptAt !== undefined && { next_attempt_at: nextAttemptAt }),
    },
  };
}

interface FailureContext {
  health: ChannelHealth;
  policy: DeliveryPolicy;
  /** The Retry-After of the destination, in seconds. */
  retry_after_seconds: number | undefined;
}

function failed(
  failure: Attempt,
  pending: Notification,
  { health, policy, retry_after_seconds }: FailureContext,
): NotificationEvent {
  const { notification_id, attempt, reason = 'internal', deferred } = failure;
  if (isTest(pending) || reason === 'rejected') return attempted(failure, 'failed');
  // An attempt on a paused channel is a probe and uses none of the schedule's attempts.
  if ((health.paused && !deferred) || reason === 'gone') return attempted(failure, 'retrying');
  const tries = pending.tries + 1;
  const delay = delayAfter(policy.schedule, { notification_id, attempt, tries, reason, retry_after_seconds });
  return delay === null
    ? attempted(failure, 'failed')
    : attempted(failure, 'retrying', new Date(endOf(failure) + delay).toISOString());
}

/** Resumes a paused channel after an attempt that its destination accepted. */
function resumeAfter(attempt: Attempt, health: ChannelHealth): ChannelEvent[] {
  if (!health.paused) return [];
  const { ou_id, channel_id } = attempt;
  const at = new Date(endOf(attempt)).toISOString();
  return [{ type: 'ChannelResumed', payload: { ou_id, channel_id, cause: 'success', at } }];
}

function pauseAfter(
  attempt: Attempt,
  health: ChannelHealth,
  { pauseAfterMs }: DeliveryPolicy,
): ChannelEvent[] {
  const { ou_id, channel_id, reason = 'internal', attempted_at, detail } = attempt;
  if (health.paused || reason === 'internal') return [];
  const failing_since = health.failing_since ?? attempted_at;
  const ended = endOf(attempt);
  const isGivenUp =
    health.failures + 1 >= failuresUntilPaused && ended - Date.parse(failing_since) >= pauseAfterMs;
  if (reason !== 'gone' && !isGivenUp) return [];
  const why = reason === 'gone' ? 'gone' : 'failing';
  const at = new Date(ended).toISOString();
  return [{ type: 'ChannelPaused', payload: { ou_id, channel_id, reason: why, failing_since, detail, at } }];
}

/** In milliseconds since 1970. */
function endOf({ attempted_at, duration_ms }: Attempt): number {
  return Date.parse(attempted_at) + duration_ms;
}

/** Resumes a channel; one that is not paused does not change. */
export function decideResume(
  { ou_id, channel_id, cause, requested_at, actor }: records.ResumeChannel,
  health: ChannelHealth,
): ChannelEvent[] {
  if (!health.paused) return [];
  return [{ type: 'ChannelResumed', payload: { ou_id, channel_id, cause, at: requested_at, actor } }];
}

/** Delivers notifications of the channel once more, under their ids: no tests, and each once per redelivery. */
export function decideRedelivery(
  {
    ou_id,
    channel_id,
    redelivery_id,
    requested_at,
    actor,
    undelivered_only = false,
  }: records.RedeliverNotifications,
  wanted: readonly Notification[],
): RedeliveryEvent[] {
  const notification_ids = wanted
    .filter(
      (notification) =>
        notification.ou_id === ou_id &&
        notification.channel_id === channel_id &&
        notification.redelivery_id !== redelivery_id &&
        !isTest(notification) &&
        !(undelivered_only && notification.status === 'delivered'),
    )
    .map(({ notification_id }) => notification_id);
  if (notification_ids.length === 0) return [];
  return [
    {
      type: 'NotificationsRedelivered',
      payload: { ou_id, channel_id, redelivery_id, notification_ids, at: requested_at, actor },
    },
  ];
}

/**
 * Forgets the channel's notifications of a deleted lead, or of an account that is gone; the command again gives the event again,
 * which changes nothing.
 */
export function decideForgetting({
  requested_at,
  ...forgotten
}: records.ForgetLead | records.ForgetAccount): ForgettingEvent {
  return { type: 'NotificationsForgotten', payload: { ...forgotten, at: requested_at } };
}

export interface TestResult {
  ok: boolean;
  status?: number;
  detail: string;
  duration_ms: number;
}

/** The answer to the caller of a test; null while the test is pending. */
export function testResultOf({ status, last }: Notification): TestResult | null {
  if (status === 'pending' || !last) return null;
  return {
    ok: last.outcome === 'delivered',
    ...(last.status !== undefined && { status: last.status }),
    detail: last.detail,
    duration_ms: last.duration_ms,
  };
}
