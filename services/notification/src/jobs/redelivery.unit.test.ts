// The steps of a redelivery: every notification of the range is in exactly one step, and a deleted channel ends the job.
import { expect, test } from '@jest/globals';
import type { BatchEffect, Job, PartitionScope } from '@lead-scoring/capability';
import type { records } from '@lead-scoring/contracts';
import type { Delivery } from '../delivery/capability.js';
import type { RequestStep } from '../delivery/delivery-look-up.js';
import { emptyNotificationConfiguration } from '../configuration/state.js';
import { channelOf, idOf, ouId } from '../testing/delivery-builders.js';
import { redelivery } from './redelivery.js';

const since = '2026-01-01T00:00:00.000Z';
const until = '2026-01-02T00:00:00.000Z';
/** Requested one after the other, two at each moment. */
const stored = Array.from({ length: 1_203 }, (_, index) => ({
  notification_id: idOf(`notification ${String(index)}`),
  requested_at: new Date(Date.parse(since) + Math.floor(index / 2)).toISOString(),
})).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));

function placeOf({ requested_at, notification_id }: (typeof stored)[number]): string {
  return `${requested_at} ${notification_id}`;
}

const channels = new Map([[channelOf().id, channelOf()]]);
const asked: RequestStep[] = [];
const store = {
  countRequestedWithin: () => Promise.resolve(stored.length),
  requestedWithin: (step: RequestStep) => {
    asked.push(step);
    const { after, limit } = step;
    const from = after === null ? '' : `${after.at} ${after.notification_id}`;
    return Promise.resolve(stored.filter((one) => placeOf(one) > from).slice(0, limit));
  },
};
const { signal } = new AbortController();
const scope = { opened: () => ({ decider: { store } }) } as unknown as PartitionScope;
const kind = redelivery({
  delivery: {} as BatchEffect<Delivery>,
  configurations: {
    load: () => Promise.resolve(new Map([[ouId, { ...emptyNotificationConfiguration(ouId), channels }]])),
  },
});
const jobAt = (cursor: string | null, channel = 'channel'): Job<records.NotificationWork> => ({
  job_id: idOf('job'),
  ou_id: ouId,
  work: { kind: 'redelivery', channel_id: idOf(channel), since, undelivered_only: true },
  status: 'running',
  total: stored.length,
  done: 0,
  failed: 0,
  errors: [],
  step: 0,
  cursor,
  started_at: until,
  ended_at: null,
  actor: { kind: 'token', id: '7' },
});

test('the steps deliver every notification of the range once more, each once, with the fields of the request', async () => {
  const delivered: string[] = [];
  const steps: number[] = [];
  for (let cursor: string | null = null, isLast = false; !isLast;) {
    const step = await kind.step(jobAt(cursor), scope, signal);
    if (step.outcome !== 'advanced') throw new Error('the job has failed');
    for (const { payload } of step.commands) {
      const { notification_ids = [], ...command } = payload as records.RedeliverNotifications;
      delivered.push(...notification_ids);
      expect(command).toEqual({
        ou_id: ouId,
        channel_id: idOf('channel'),
        redelivery_id: idOf('job'),
        undelivered_only: true,
        requested_at: until,
        actor: { kind: 'token', id: '7' },
      });
    }
    steps.push(step.done);
    cursor = step.cursor;
    isLast = cursor === null;
  }
  expect(steps).toEqual([500, 500, 203]);
  expect(delivered).toEqual(stored.map(({ notification_id }) => notification_id));
  for (const step of asked)
    expect(step).toMatchObject({ channel_id: idOf('channel'), since, until, undeliveredOnly: true });
});

test('an unknown channel is refused, and a channel that is deleted later ends the job', async () => {
  const start: records.StartRedelivery = {
    ou_id: ouId,
    channel_id: idOf('gone'),
    job_id: idOf('job'),
    since,
    undelivered_only: false,
    requested_at: until,
  };
  const code = 'notification_channel_not_found';
  expect(await kind.begin(start, scope)).toMatchObject({ outcome: 'rejected', code });
  expect(await kind.begin({ ...start, channel_id: idOf('channel') }, scope)).toMatchObject({
    total: stored.length,
  });
  expect(await kind.step(jobAt(null, 'gone'), scope, signal)).toMatchObject({
    outcome: 'failed',
    error: { code },
  });
});
