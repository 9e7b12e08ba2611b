// Decisions on attempts, pauses and redeliveries, and the laws for any sequence of them.
import { describe, expect, test } from '@jest/globals';
import { records } from '@lead-scoring/contracts';
import { lawRuns } from '@lead-scoring/testing/full-size';
import fc from 'fast-check';
import {
  accountPayload,
  attemptOf,
  channelOf,
  deliveredAttempt,
  idOf,
  notifiedAccount,
  ouId,
  requestOf,
  startTime,
} from '../testing/delivery-builders.js';
import {
  decideAttempt,
  decideForgetting,
  decideRedelivery,
  decideRequest,
  decideResume,
  decideTest,
  testResultOf,
} from './decide.js';
import { notificationsIn, type DeliveryEvent } from './messages.js';
import { evolveHealth, evolveNotification } from './evolve.js';
import { publishedPolicy } from './schedule-model.js';
import { healthyChannel, type ChannelHealth, type Notification } from './state.js';

const request = requestOf('one');
const day = 24 * 3_600_000;

interface State {
  notification: Notification | null;
  health: ChannelHealth;
}

const nothing: State = { notification: null, health: healthyChannel(ouId, idOf('channel')) };

function fold(state: State, events: readonly DeliveryEvent[]): State {
  return events.reduce<State>(
    ({ notification, health }, event) => ({
      notification:
        notificationsIn(event).length > 0 ? evolveNotification(notification, event) : notification,
      health: evolveHealth(health, event),
    }),
    state,
  );
}

const requested = fold(nothing, decideRequest(request, null));

function attempt(
  state: State,
  change: Partial<records.RecordAttempt> = {},
): { events: DeliveryEvent[]; after: State } {
  const events = decideAttempt(
    attemptOf(request, { attempt: (state.notification?.attempts ?? 0) + 1, ...change }),
    state.notification,
    state.health,
    publishedPolicy,
  );
  return { events, after: fold(state, events) };
}

function deliver(state: State): { events: DeliveryEvent[]; after: State } {
  const events = decideAttempt(
    deliveredAttempt(request, (state.notification?.attempts ?? 0) + 1),
    state.notification,
    state.health,
    publishedPolicy,
  );
  return { events, after: fold(state, events) };
}

describe('a notification', () => {
  test('is requested once, however often its command is repeated', () => {
    expect(decideRequest(request, null)).toHaveLength(1);
    expect(decideRequest(request, requested.notification)).toEqual([]);
  });

  test('that its destination accepted is delivered', () => {
    expect(deliver(requested).after.notification).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  test('has eight attempts and then fails', () => {
    let state = requested;
    for (let count = 1; count <= 8; count += 1) {
      expect(state.notification).toMatchObject({ status: 'pending', attempts: count - 1 });
      state = attempt(state).after;
    }
    expect(state.notification).toMatchObject({ status: 'failed', attempts: 8 });
  });

  test('that its destination refuses for good is not retried', () => {
    expect(attempt(requested, { reason: 'rejected' }).after.notification?.status).toBe('failed');
  });

  test('that was deferred for some recipients is retried for these alone; a redelivery goes to all', () => {
    const deferred = ['0123456789abcdef'];
    const partly = attempt(requested, { deferred });
    expect(partly.events).toMatchObject([
      { payload: { outcome: 'retrying', deferred, next_attempt_at: expect.any(String) } },
    ]);
    expect(partly.after.notification).toMatchObject({ status: 'pending', tries: 1, deferred });
    const later = attempt(partly.after, { reason: 'timeout' });
    expect(later.after.notification?.deferred).toEqual(deferred);
    expect(partly.after.health).toMatchObject({ failures: 0, failing_since: null });
    expect(later.after.health.failures).toBe(1);
    const known = deliver(later.after).after;
    const { ou_id, channel_id } = request;
    const events = decideRedelivery(
      { ou_id, channel_id, redelivery_id: idOf('redelivery'), requested_at: startTime },
      known.notification ? [known.notification] : [],
    );
    expect(fold(known, events).notification).toMatchObject({ status: 'pending', deferred: null });
  });

  test('whose channel was deleted is cancelled, and the channel’s health does not change', () => {
    const { after } = attempt(requested, { outcome: 'cancelled' });
    expect(after.notification?.status).toBe('cancelled');
    expect(after.health.failures).toBe(0);
  });

  test('counts an attempt once, however often it is recorded, and ignores an attempt out of order', () => {
    const { after } = attempt(requested);
    for (const number of [1, 3])
      expect(
        decideAttempt(
          attemptOf(request, { attempt: number }),
          after.notification,
          after.health,
          publishedPolicy,
        ),
      ).toEqual([]);
  });

  test('that is unknown ignores attempts', () => {
    expect(decideAttempt(attemptOf(request), null, nothing.health, publishedPolicy)).toEqual([]);
  });
});

describe('a channel', () => {
  const failedSince = (from: number, at: number, failures: number): State => ({
    ...requested,
    health: {
      ...requested.health,
      failures,
      failing_since: new Date(Date.parse(startTime) + from).toISOString(),
      last_attempt_at: new Date(Date.parse(startTime) + at).toISOString(),
    },
  });
  const failAt = (state: State, at: number) =>
    attempt(state, { attempted_at: new Date(Date.parse(startTime) + at).toISOString() });

  test('is failing from its first failure until its next success', () => {
    const { after } = attempt(requested);
    expect(after.health).toMatchObject({
      failures: 1,
      failing_since: startTime,
      last_error: { at: startTime },
    });
    expect(deliver(after).after.health).toMatchObject({ failures: 0, failing_since: null, last_error: null });
  });

  test('is paused after five days of nothing but failures, at least four', () => {
    expect(failAt(failedSince(0, 4 * day, 3), 5 * day - 21).after.health.paused).toBeNull();
    expect(failAt(failedSince(0, 4 * day, 2), 6 * day).after.health.paused).toBeNull();
    expect(failAt(failedSince(0, 4 * day, 3), 5 * day).after.health.paused).toMatchObject({
      reason: 'failing',
    });
  });

  test('is paused at once by 410 Gone, and its notifications stay pending', () => {
    const { after } = attempt(requested, { reason: 'gone', status: 410 });
    expect(after.health.paused).toMatchObject({ reason: 'gone' });
    expect(after.notification).toMatchObject({ status: 'pending', tries: 0, attempts: 1 });
  });

  test('that is paused uses none of the schedule’s attempts of its notifications', () => {
    let state = attempt(requested, { reason: 'gone' }).after;
    for (let count = 0; count < 20; count += 1) state = attempt(state).after;
    expect(state.notification).toMatchObject({
      status: 'pending',
      tries: 0,
      attempts: 21,
      due_at: startTime,
    });
  });

  test('that is paused is resumed by one success', () => {
    const { events, after } = deliver(attempt(requested, { reason: 'gone' }).after);
    expect(events.map(({ type }) => type)).toEqual(['NotificationAttempted', 'ChannelResumed']);
    expect(after.health).toMatchObject({ paused: null, failures: 0, failing_since: null });
  });

  test('is resumed by its command and has five days again; one that is not paused does not change', () => {
    const { health } = attempt(requested, { reason: 'gone' }).after;
    const command = {
      ou_id: ouId,
      channel_id: idOf('channel'),
      cause: 'request' as const,
      requested_at: startTime,
    };
    const [event] = decideResume(command, health);
    expect(event && evolveHealth(health, event)).toMatchObject({ paused: null, failing_since: null });
    expect(decideResume(command, healthyChannel(ouId, idOf('channel')))).toEqual([]);
  });

  test('is not failing because of a failure of this service', () => {
    const { after } = attempt(requested, { reason: 'internal' });
    expect(after.health.failures).toBe(0);
    expect(after.notification?.status).toBe('pending');
  });
});

describe('a redelivery', () => {
  const command = {
    ou_id: ouId,
    channel_id: idOf('channel'),
    redelivery_id: idOf('redelivery'),
    requested_at: '2026-01-03T00:00:00.000Z',
  };
  const redeliver = (state: State, change: Partial<records.RedeliverNotifications> = {}) =>
    decideRedelivery({ ...command, ...change }, state.notification ? [state.notification] : []);

  test('starts the schedule again and continues the count of attempts', () => {
    const delivered = deliver(requested).after;
    const after = fold(delivered, redeliver(delivered));
    expect(after.notification).toMatchObject({
      status: 'pending',
      tries: 0,
      attempts: 1,
      due_at: command.requested_at,
    });
    expect(deliver(after).after.notification).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  test('happens once, however often its command is repeated', () => {
    const after = fold(requested, redeliver(requested));
    expect(redeliver(after)).toEqual([]);
    expect(redeliver(after, { redelivery_id: idOf('another') })).toHaveLength(1);
  });

  test('leaves out delivered notifications with undelivered_only', () => {
    const delivered = deliver(requested).after;
    expect(redeliver(delivered, { undelivered_only: true })).toEqual([]);
    expect(redeliver(attempt(requested).after, { undelivered_only: true })).toHaveLength(1);
  });

  test('changes no notification of another channel or organizational unit', () => {
    expect(redeliver(requested, { channel_id: idOf('other') })).toEqual([]);
    expect(redeliver(requested, { ou_id: idOf('other') })).toEqual([]);
  });
});

describe('the set of notifications forgotten with a lead', () => {
  const before = { topic: 'scoring.events', partition: 3, offset: 1_042 } as const;
  const forgetting = { ou_id: ouId, channel_id: idOf('channel'), lead_id: idOf('lead'), before };
  const isLeft = (change: Partial<records.ForgetLead>) => {
    const event = decideForgetting({ ...forgetting, requested_at: startTime, ...change });
    return evolveNotification(requested.notification, event) !== null;
  };

  test('is exactly those that earlier records of the deletion’s topic caused', () => {
    expect(isLeft({ before: { ...before, offset: 1_043 } })).toBe(false);
    expect(isLeft({})).toBe(true);
    expect(isLeft({ before: { ...before, topic: 'ingest.events', offset: 2_000 } })).toBe(true);
    for (const other of [
      { lead_id: idOf('another lead') },
      { channel_id: idOf('another channel') },
      { ou_id: idOf('another OU') },
    ])
      expect(isLeft({ ...other, before: { ...before, offset: 1_043 } })).toBe(true);
  });
});

describe('the set of notifications forgotten with an account', () => {
  const before = { topic: 'scoring.events', partition: 3, offset: 1_043 } as const;
  const about = (name: string): Notification => {
    if (!requested.notification) throw new Error('nothing was requested');
    return { ...requested.notification, payload: accountPayload({ account: notifiedAccount(name) }) };
  };
  const isLeft = (notification: Notification, change: Partial<records.ForgetAccount> = {}) => {
    const command = { ou_id: ouId, channel_id: idOf('channel'), account_id: idOf('acme'), before };
    const event = decideForgetting({ ...command, requested_at: startTime, ...change });
    expect(records.notificationsForgotten.schema.parse(event.payload)).toEqual(event.payload);
    return evolveNotification(notification, event) !== null;
  };

  test('is exactly those of the account that earlier decisions caused, and none of a lead', () => {
    expect(isLeft(about('acme'))).toBe(false);
    expect(isLeft(about('acme'), { before: { ...before, offset: 1_042 } })).toBe(true);
    expect(isLeft(about('globex'))).toBe(true);
    expect(isLeft(about('acme'), { ou_id: idOf('another OU') })).toBe(true);
    expect(requested.notification && isLeft(requested.notification)).toBe(true);
    expect(requested.notification && isLeft(requested.notification, { account_id: idOf('acme') })).toBe(true);
  });
});

describe('a test of a channel', () => {
  const command = {
    ou_id: ouId,
    channel_id: idOf('channel'),
    notification_id: request.notification_id,
    requested_at: startTime,
  };
  const caller = { reply_to: 'gateway-1', correlation_id: 'c' };
  const tested = fold(
    nothing,
    decideTest(command, { name: channelOf().name, type: 'webhook' }, caller, null),
  );

  test('has one attempt, whose outcome its caller gets', () => {
    expect(tested.notification && testResultOf(tested.notification)).toBeNull();
    const { after } = attempt(tested);
    expect(after.notification?.status).toBe('failed');
    expect(after.notification && testResultOf(after.notification)).toEqual({
      ok: false,
      status: 500,
      detail: 'channel.example.com answered 500.',
      duration_ms: 20,
    });
    const ok = deliver(tested).after.notification;
    expect(ok && testResultOf(ok)).toMatchObject({ ok: true, status: 204 });
  });

  test('is not sent again', () => {
    const after = attempt(tested).after.notification;
    expect(decideRedelivery({ ...command, redelivery_id: idOf('redelivery') }, after ? [after] : [])).toEqual(
      [],
    );
  });
});

describe('for any sequence of events', () => {
  const step = fc.oneof(
    fc.constantFrom<Partial<records.RecordAttempt>>(
      { reason: 'status' },
      { reason: 'timeout' },
      { reason: 'gone' },
      { reason: 'rejected' },
      { reason: 'rate_limited', retry_after_seconds: 90 },
    ),
    fc.constantFrom('deliver' as const, 'redeliver' as const, 'resume' as const, 'twice' as const),
  );

  test('a pending notification has used fewer than eight attempts of its schedule, and a record twice counts once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state = requested;
        let last: records.RecordAttempt | null = null;
        steps.forEach((one, index) => {
          const at = new Date(Date.parse(startTime) + index * 3_600_000).toISOString();
          let events: DeliveryEvent[];
          if (one === 'redeliver')
            events = decideRedelivery(
              {
                ou_id: ouId,
                channel_id: idOf('channel'),
                redelivery_id: idOf(String(index)),
                requested_at: at,
              },
              state.notification ? [state.notification] : [],
            );
          else if (one === 'resume')
            events = decideResume(
              { ou_id: ouId, channel_id: idOf('channel'), cause: 'request', requested_at: at },
              state.health,
            );
          else if (one === 'twice') {
            events = last ? decideAttempt(last, state.notification, state.health, publishedPolicy) : [];
            expect(events).toEqual([]);
          } else {
            const number = (state.notification?.attempts ?? 0) + 1;
            const made =
              one === 'deliver'
                ? { ...deliveredAttempt(request, number), attempted_at: at }
                : attemptOf(request, { attempt: number, attempted_at: at, ...one });
            events = decideAttempt(made, state.notification, state.health, publishedPolicy);
            if (events.length > 0) last = made;
          }
          state = fold(state, events);
          if (state.notification?.status === 'pending') expect(state.notification.tries).toBeLessThan(8);
          expect(state.health.failing_since === null).toBe(state.health.failures === 0);
        });
      }),
      { numRuns: Math.max(2_000, lawRuns) },
    );
  });
});
