// Decides on notifications, their attempts, and the pausing of channels: pure; times and ids come with the commands.
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

/** A notification is requested once, however often the command comes. */
export function decideRequest(
  { requested_at, ...requested }: records.RequestNotification,
  known: Notification | null,
): NotificationEvent[] {
  if (known) return [];
  return [{ type: 'NotificationRequested', payload: { ...requested, at: requested_at }, caller: null }];
}

/** A test of a channel that is there. */
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

/** What comes of an attempt. One that is recorded already, or of which nothing is known, changes nothing. */
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
  /** What the destination asked for. */
  retry_after_seconds: number | undefined;
}

function failed(
  failure: Attempt,
  pending: Notification,
  { health, policy, retry_after_seconds }: FailureContext,
): NotificationEvent {
  const { notification_id, attempt, reason = 'internal', deferred } = failure;
  if (isTest(pending) || reason === 'rejected') return attempted(failure, 'failed');
  // A notification for a paused channel keeps the attempts that it has.
  if ((health.paused && !deferred) || reason === 'gone') return attempted(failure, 'retrying');
  const tries = pending.tries + 1;
  const delay = delayAfter(policy.schedule, { notification_id, attempt, tries, reason, retry_after_seconds });
  return delay === null
    ? attempted(failure, 'failed')
    : attempted(failure, 'retrying', new Date(endOf(failure) + delay).toISOString());
}

/** The destination has taken something. */
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

/** Milliseconds since 1970. */
function endOf({ attempted_at, duration_ms }: Attempt): number {
  return Date.parse(attempted_at) + duration_ms;
}

/** A channel that is not paused stays as it is. */
export function decideResume(
  { ou_id, channel_id, cause, requested_at, actor }: records.ResumeChannel,
  health: ChannelHealth,
): ChannelEvent[] {
  if (!health.paused) return [];
  return [{ type: 'ChannelResumed', payload: { ou_id, channel_id, cause, at: requested_at, actor } }];
}

/** Delivers these once more, under their ids. A test is not, nothing of another channel, and nothing twice for one request. */
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

/** What the channel was told of a lead that was deleted is forgotten, as often as it is asked for. */
export function decideForgetting({ requested_at, ...lead }: records.ForgetLead): ForgettingEvent {
  return { type: 'NotificationsForgotten', payload: { ...lead, at: requested_at } };
}

export interface TestResult {
  ok: boolean;
  status?: number;
  detail: string;
  duration_ms: number;
}

/** What the caller of a test is told: null while it is on its way. */
export function testResultOf({ status, last }: Notification): TestResult | null {
  if (status === 'pending' || !last) return null;
  return {
    ok: last.outcome === 'delivered',
    ...(last.status !== undefined && { status: last.status }),
    detail: last.detail,
    duration_ms: last.duration_ms,
  };
}
