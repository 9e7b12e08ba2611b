// Delivery on real servers, through restarts: commands in, requests at a real receiver out, and the queries on deliveries.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { records, routes } from '@lead-scoring/contracts';
import { outgoing } from '@lead-scoring/event-log';
import {
  always,
  failing,
  inTurn,
  startWebhookReceiver,
  type WebhookReceiver,
} from '@lead-scoring/testing/receivers';
import { channelOf, idOf, ouId, requestOf } from '../testing/delivery-builders.js';
import { eventually } from '@lead-scoring/testing/service-rig';
import { requestRecord, sealing, startDeliveryRig, type DeliveryRig } from '../testing/delivery-rig.js';
import { readChannelHealth } from './queries.js';

/** Eight attempts, in less than a second. */
const policy = {
  schedule: [0, 0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1],
  pauseAfterMs: 3_600_000,
  probeEveryMs: 3_600_000,
};
const since = '2025-12-31T00:00:00.000Z';
const now = () => new Date().toISOString();

let receiver: WebhookReceiver;
let rig: DeliveryRig;

beforeEach(async () => {
  receiver = await startWebhookReceiver({ secrets: [sealing.signingSecret(idOf('key'))] });
  rig = await startDeliveryRig({ policy, targets: [receiver.target] });
  configure('channel');
}, 60_000);
afterEach(async () => {
  receiver.release();
  await rig.stop();
  await receiver.stop();
}, 60_000);

function configure(name: string, url = receiver.url): void {
  const channel = channelOf(name, {
    destination: { type: 'webhook', config: { url } },
    signing: { key_id: idOf('key'), previous: null },
  });
  rig.channels.set(channel.id, channel);
}

const notificationId = (name: string) => idOf(`notification ${name}`);
const statusOf = async (name: string) =>
  (await rig.get(`/deliveries/${notificationId(name)}`)).body['status'];
const healthOf = async (name: string) =>
  (await readChannelHealth(rig.readModel, [idOf(name)])).get(idOf(name));
const trial = (name: string, channel = 'channel') =>
  outgoing(records.testChannel, {
    key: idOf(channel),
    payload: {
      ou_id: ouId,
      channel_id: idOf(channel),
      notification_id: notificationId(name),
      requested_at: now(),
    },
  });
const resume = () =>
  outgoing(records.resumeChannel, {
    key: idOf('channel'),
    payload: { ou_id: ouId, channel_id: idOf('channel'), cause: 'request', requested_at: now() },
  });
const redeliver = (name: string, ou = ouId) =>
  outgoing(records.redeliverNotification, {
    key: ou,
    payload: {
      ou_id: ou,
      notification_id: notificationId(name),
      redelivery_id: idOf(`redelivery of ${name}`),
      requested_at: now(),
    },
  });
const redeliverAll = (name: string, undelivered_only = false) =>
  outgoing(records.startRedelivery, {
    key: idOf('channel'),
    payload: {
      ou_id: ouId,
      channel_id: idOf('channel'),
      job_id: idOf(name),
      since,
      undelivered_only,
      requested_at: now(),
    },
  });
const cancel = (name: string, partition: number, ou = ouId) =>
  outgoing(records.notificationJobs.cancelJob, {
    key: idOf(name),
    partition,
    payload: { ou_id: ou, job_id: idOf(name), requested_at: now() },
  });
const jobOf = async (name: string, ou = ouId) =>
  (await rig.get(`/jobs/notification-${idOf(name)}`, { ou })).body;

describe('a notification', () => {
  test('that is requested twice arrives once, signed, and can be read with its attempt', async () => {
    await rig.start();
    const request = requestOf('one');
    await rig.write([requestRecord(request), requestRecord(request)]);
    await eventually('it is delivered', async () => (await statusOf('one')) === 'delivered');
    expect(receiver.received.map(({ id }) => id)).toEqual([notificationId('one')]);
    expect(receiver.received[0]?.payload).toEqual(request.payload);
    expect(receiver.forged).toEqual([]);
    const { body } = await rig.get(`/deliveries/${notificationId('one')}`);
    expect(body).toMatchObject({
      id: notificationId('one'),
      unit_id: ouId,
      channel_id: idOf('channel'),
      status: 'delivered',
      attempts: 1,
      last_status: 200,
      payload: request.payload,
      attempt_log: [{ attempt: 1, outcome: 'delivered', status: 200 }],
    });
    expect(body).not.toHaveProperty('next_attempt_at');
  });

  test('is attempted as often as the schedule says, and every attempt is recorded with its answer', async () => {
    receiver.behave(always({ status: 503, body: 'out of order' }));
    await rig.start();
    await rig.write([requestRecord(requestOf('one'))]);
    await eventually('no attempt is left', async () => (await statusOf('one')) === 'failed');
    expect(receiver.received).toHaveLength(8);
    const { body } = await rig.get(`/deliveries/${notificationId('one')}`);
    const attempts = body['attempt_log'] as Record<string, unknown>[];
    expect(attempts.map(({ attempt }) => attempt)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    for (const attempt of attempts)
      expect(attempt).toMatchObject({ reason: 'status', status: 503, response: 'out of order' });
    expect(await healthOf('channel')).toMatchObject({ failures: 8, paused: null });
  });

  test('that waits for a retry is sent by the next owner of the partition', async () => {
    receiver.behave(inTurn({ status: 500 }, { status: 500 }));
    const stop = await rig.start();
    await rig.write([requestRecord(requestOf('one'))]);
    await eventually('it was tried', () => receiver.received.length > 0);
    await stop();
    await rig.start();
    await eventually('it is delivered', async () => (await statusOf('one')) === 'delivered');
    expect(new Set(receiver.received.map(({ id }) => id))).toEqual(new Set([notificationId('one')]));
    expect(receiver.received).toHaveLength(3);
  });

  test('of a channel that was deleted is cancelled, and nothing is sent', async () => {
    rig.channels.clear();
    await rig.start();
    await rig.write([requestRecord(requestOf('one'))]);
    await eventually('it is cancelled', async () => (await statusOf('one')) === 'cancelled');
    expect(receiver.received).toEqual([]);
  });
});

test('of 400 notifications to a destination that fails half the time, with four restarts, each arrives and every attempt is recorded', async () => {
  receiver.behave(failing(0.5, 11, [{ status: 500 }, { status: 429 }, 'disconnect', 'garbage']));
  let stop = await rig.start();
  const names = Array.from({ length: 400 }, (_, index) => String(index));
  for (const part of [0, 1, 2, 3]) {
    await rig.write(
      names
        .slice(part * 100, part * 100 + 100)
        .map((name) => requestRecord(requestOf(name, { lead: `lead ${name}` }))),
    );
    await eventually('some arrive', () => receiver.accepted.size >= 20 * (part + 1));
    await stop();
    stop = await rig.start();
  }
  const ended = async () => {
    const { body } = await rig.get('/deliveries?status=pending&limit=1');
    return body['total'] === 0;
  };
  await eventually('nothing waits', ended, 90_000);
  const failed = (await rig.get('/deliveries?status=failed&limit=100')).body['data'] as { id: string }[];
  // One or two of 400 may have eight failures in a row.
  expect(failed.length).toBeLessThan(8);
  expect(receiver.accepted.size).toBe(400 - failed.length);
  const all = (await rig.get('/deliveries?limit=1')).body['total'];
  expect(all).toBe(400);
  const events = await rig.recordsOn('notification.events');
  const attempts = events.filter(({ type }) => type === 'NotificationAttempted');
  // A stopping process lets its attempts end, so that none of them is made twice.
  expect(attempts).toHaveLength(receiver.received.length);
  for (const { id, nth } of receiver.received)
    expect(nth).toBeLessThanOrEqual(receiver.accepted.get(id)?.nth ?? 7);
}, 180_000);

test('one destination of ten that hangs delays none of the others', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `channel ${String(index)}`);
  let mostHanging = 0;
  receiver.behave(({ path }) => {
    if (path !== '/0') return { status: 200 };
    mostHanging = Math.max(mostHanging, receiver.unanswered() + 1);
    return 'hang';
  });
  names.forEach((name, index) => {
    configure(name, `${receiver.url}${String(index)}`);
  });
  await rig.start();
  await rig.write(
    names.flatMap((channel) =>
      Array.from({ length: 20 }, (_, index) =>
        requestRecord(requestOf(`${channel} ${String(index)}`, { channel, lead: String(index) })),
      ),
    ),
  );
  await eventually('the other nine have everything', () => receiver.accepted.size === 180);
  // As many as a webhook has at a time, however long the others take.
  expect(mostHanging).toBe(4);
}, 60_000);

test('notifications of one lead arrive in order', async () => {
  await rig.start();
  const names = Array.from({ length: 100 }, (_, index) => String(index));
  await rig.write(
    names.map((name) => requestRecord(requestOf(name, { lead: `lead ${String(Number(name) % 3)}` }))),
  );
  await eventually('all have arrived', () => receiver.accepted.size === 100);
  const arrived = receiver.received.map(({ id }) => id);
  for (const lead of [0, 1, 2]) {
    const ofLead = names.filter((name) => Number(name) % 3 === lead).map(notificationId);
    expect(arrived.filter((id) => ofLead.includes(id))).toEqual(ofLead);
  }
}, 60_000);

describe('a test of a channel', () => {
  test('is answered with what happened', async () => {
    await rig.start();
    expect(await rig.request(trial('first'))).toMatchObject({
      outcome: 'done',
      result: { ok: true, status: 200 },
    });
    expect(receiver.received[0]?.payload).toMatchObject({ type: 'channel.test' });
    receiver.behave(always({ status: 500 }));
    expect(await rig.request(trial('second'))).toMatchObject({
      outcome: 'done',
      result: { ok: false, status: 500 },
    });
    expect(receiver.received).toHaveLength(2);
  });

  test('of a channel that does not exist is a 404', async () => {
    await rig.start();
    expect(await rig.request(trial('one', 'nowhere'))).toMatchObject({
      outcome: 'rejected',
      code: 'notification_channel_not_found',
    });
  });

  test('that is requested twice is sent once and answered twice', async () => {
    await rig.start();
    const command = trial('one');
    const answers = await Promise.all([rig.request(command), rig.request(command)]);
    for (const answer of answers) expect(answer).toMatchObject({ outcome: 'done', result: { ok: true } });
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a channel whose receiver wants nothing more', () => {
  test('is paused at once, also for the next owner, and gets all pending notifications when it is resumed', async () => {
    receiver.behave(always({ status: 410 }));
    const stop = await rig.start();
    await rig.write([requestRecord(requestOf('one'))]);
    await eventually('it is paused', async () => (await healthOf('channel'))?.paused?.reason === 'gone');
    await stop();
    await rig.start();
    await rig.write([requestRecord(requestOf('two')), requestRecord(requestOf('three'))]);
    await eventually('they are known', async () => (await statusOf('three')) === 'pending');
    receiver.behave(always({ status: 200 }));
    expect(receiver.received).toHaveLength(1);
    expect(await rig.request(resume())).toMatchObject({ outcome: 'done', result: { status: 'active' } });
    await eventually('all have arrived', () => receiver.accepted.size === 3);
    expect((await healthOf('channel'))?.paused).toBeNull();
  });

  test('is given another address: pending notifications go there and none goes to the old address', async () => {
    receiver.behave(({ path }) => (path === '/new' ? { status: 200 } : { status: 410 }));
    await rig.start();
    await rig.write([requestRecord(requestOf('one'))]);
    await eventually('it is paused', async () => (await healthOf('channel'))?.paused?.reason === 'gone');
    const command = resume();
    await rig.write([
      { ...command, payload: { ...command.payload, cause: 'replacement', configuration_version: 1 } },
    ]);
    // The change was decided before; it is published only now.
    configure('channel', `${receiver.url}new`);
    rig.configuration.version = 1;
    await eventually('it has arrived', async () => (await statusOf('one')) === 'delivered');
    expect(receiver.received.map(({ path }) => path)).toEqual(['/', '/new']);
  });

  test('that does not exist cannot be resumed', async () => {
    await rig.start();
    rig.channels.clear();
    expect(await rig.request(resume())).toMatchObject({ outcome: 'rejected' });
  });
});

describe('a redelivery', () => {
  test('of one notification sends it again under its id, once per request; of another unit it is a 404', async () => {
    await rig.start();
    await rig.write([requestRecord(requestOf('one'))]);
    await eventually('it is delivered', async () => (await statusOf('one')) === 'delivered');
    const command = redeliver('one');
    expect(await rig.request(command)).toMatchObject({ outcome: 'done', result: { redelivered: 1 } });
    expect(await rig.request(command)).toMatchObject({ outcome: 'done', result: { redelivered: 0 } });
    await eventually('it has come again', () => receiver.received.length === 2);
    expect(receiver.received.map(({ id }) => id)).toEqual([notificationId('one'), notificationId('one')]);
    expect(await rig.request(redeliver('one', idOf('another unit')))).toMatchObject({
      outcome: 'rejected',
      code: 'delivery_not_found',
    });
  });

  test('of all since a time sends every notification requested since, in several steps', async () => {
    await rig.start();
    const names = Array.from({ length: 600 }, (_, index) => String(index));
    await rig.write(names.map((name) => requestRecord(requestOf(name, { lead: `lead ${name}` }))));
    await eventually('all have arrived', () => receiver.accepted.size === 600, 60_000);
    await eventually('all are recorded', async () => {
      const { body } = await rig.get('/deliveries?status=delivered&limit=1');
      return body['total'] === 600;
    });
    expect(await rig.request(redeliverAll('undelivered', true))).toMatchObject({
      result: { redelivered: 0 },
    });
    const command = redeliverAll('all');
    const started = { redelivered: 600, job_id: `notification-${idOf('all')}` };
    expect(await rig.request(command)).toMatchObject({ outcome: 'done', result: started });
    await eventually('all have come again', () => receiver.received.length === 1_200, 60_000);
    expect(receiver.accepted.size).toBe(600);

    await eventually('the jobs are done', async () => (await jobOf('all'))['status'] === 'completed');
    expect(await jobOf('all')).toMatchObject({ kind: 'redelivery', total: 600, done: 600, failed: 0 });
    expect(await jobOf('undelivered')).toMatchObject({ status: 'completed', total: 0, done: 0 });
    expect(await jobOf('all', idOf('another unit'))).toMatchObject({ status: 404, code: 'job_not_found' });
    // The same command again, and a cancellation after the end, change nothing.
    expect(await rig.request(command)).toMatchObject({ outcome: 'done', result: started });
    for (let partition = 0; partition < rig.partitions; partition += 1)
      expect(await rig.request(cancel('all', partition))).toMatchObject({ result: { status: 'completed' } });
    expect(receiver.received).toHaveLength(1_200);
  }, 180_000);
});

test('a redelivery of all that is cancelled before its first step delivers nothing; of another unit it is not found', async () => {
  const stop = await rig.start();
  await rig.write([requestRecord(requestOf('one'))]);
  await eventually('it is delivered', async () => (await statusOf('one')) === 'delivered');
  await stop();
  const own = rig.log.partitionOf(idOf('channel'));
  // One batch: the job runs when the cancellations are decided, and its first step is still to come.
  await rig.write([
    redeliverAll('all'),
    cancel('all', own, idOf('another unit')),
    cancel('all', own),
    redeliverAll('all, later'),
  ]);
  await rig.start();
  await eventually(
    'the later one is done',
    async () => (await jobOf('all, later'))['status'] === 'completed',
  );
  expect(await jobOf('all')).toMatchObject({ status: 'cancelled', total: 1, done: 0 });
  await eventually('it has come again', () => receiver.received.length === 2);
  const jobs = async (query = '', ou = ouId) => (await rig.get(`/jobs${query}`, { ou })).body;
  const listed = routes.listJobs.responses[200].schema.parse(await jobs());
  expect(listed).toMatchObject({ total: 2, page: 1, limit: 25 });
  expect(listed.data.map(({ id }) => id).sort()).toEqual(
    ['all', 'all, later'].map((name) => `notification-${idOf(name)}`).sort(),
  );
  expect(await jobs('?status=cancelled')).toMatchObject({
    total: 1,
    data: [{ kind: 'redelivery', done: 0 }],
  });
  expect(await jobs('?status=completed')).toMatchObject({ total: 1, data: [{ total: 1, done: 1 }] });
  expect(await jobs('?status=running')).toMatchObject({ data: [], total: 0 });
  expect(await jobs('', idOf('another unit'))).toMatchObject({ data: [], total: 0 });
  expect((await rig.get('/jobs?status=queued')).status).toBe(400);
  expect(await jobs('?cursor=none')).toMatchObject({ status: 400, code: 'invalid_cursor' });
  const refused = { outcome: 'rejected', code: 'job_not_found' };
  expect(await rig.request(cancel('all', own, idOf('another unit')))).toMatchObject(refused);
  expect(await rig.request(cancel('unknown', own))).toMatchObject(refused);
  const redelivered = (await rig.recordsOn('notification.events')).filter(
    ({ type }) => type === 'NotificationsRedelivered',
  );
  expect(redelivered.map(({ payload }) => payload)).toEqual([
    expect.objectContaining({ redelivery_id: idOf('all, later'), notification_ids: [notificationId('one')] }),
  ]);
});

test('a request from before jobs existed starts a job under the id of the redelivery', async () => {
  await rig.start();
  await rig.write([requestRecord(requestOf('one'))]);
  await eventually('it is delivered', async () => (await statusOf('one')) === 'delivered');
  const reply = await rig.request(
    outgoing(records.redeliverNotifications, {
      key: idOf('channel'),
      payload: {
        ou_id: ouId,
        channel_id: idOf('channel'),
        redelivery_id: idOf('all'),
        since,
        requested_at: now(),
      },
    }),
  );
  expect(reply).toMatchObject({ outcome: 'done', result: { redelivered: 1 } });
  await eventually('it has come again', () => receiver.received.length === 2);
  await eventually('the job is done', async () => (await jobOf('all'))['status'] === 'completed');
});

describe('the list of deliveries', () => {
  test('is filtered, paged and only of one’s own organizational unit', async () => {
    receiver.behave(({ path }) => (path === '/bad' ? { status: 500 } : { status: 200 }));
    configure('bad', `${receiver.url}bad`);
    await rig.start();
    await rig.write([
      requestRecord(requestOf('one', { at: '2026-01-01T00:00:01.000Z' })),
      requestRecord(requestOf('two', { at: '2026-01-01T00:00:02.000Z', lead: 'other' })),
      requestRecord(requestOf('three', { at: '2026-01-01T00:00:03.000Z', channel: 'bad' })),
    ]);
    await eventually('all have ended', async () => {
      const { body } = await rig.get('/deliveries');
      return body['total'] === 3 && (await rig.get('/deliveries?status=pending')).body['total'] === 0;
    });
    const idsOf = async (query: string, ou?: string) =>
      (
        (await rig.get(`/deliveries${query}`, ou === undefined ? {} : { ou })).body['data'] as {
          id: string;
        }[]
      ).map(({ id }) => id);
    expect(await idsOf('')).toEqual(['three', 'two', 'one'].map(notificationId));
    expect(await idsOf('?status=failed')).toEqual([notificationId('three')]);
    expect(await idsOf(`?channel_id=${idOf('channel')}`)).toEqual(['two', 'one'].map(notificationId));
    expect(await idsOf(`?lead_id=${idOf('other')}`)).toEqual([notificationId('two')]);
    expect(await idsOf(`?trigger_id=${idOf('trigger')}&limit=1`)).toEqual([notificationId('three')]);
    expect(await idsOf('', idOf('another unit'))).toEqual([]);
    expect((await rig.get(`/deliveries/${notificationId('one')}`, { ou: idOf('another unit') })).status).toBe(
      404,
    );
    expect((await rig.get(`/deliveries/${idOf('nothing')}`)).status).toBe(404);
  });

  test('is the same after a rebuild, and nothing is sent again', async () => {
    receiver.behave(inTurn({ status: 500 }));
    await rig.start();
    await rig.write(['one', 'two', 'three'].map((name) => requestRecord(requestOf(name))));
    await eventually('all have arrived', () => receiver.accepted.size === 3);
    await eventually('all are recorded', async () => {
      const { body } = await rig.get('/deliveries?status=delivered');
      return body['total'] === 3;
    });
    await rig.request(trial('test'));
    const before = await rig.documents();
    const sent = receiver.received.length;
    await rig.rebuild();
    expect(await rig.documents()).toEqual(before);
    await rig.request(trial('another test'));
    expect(receiver.received).toHaveLength(sent + 1);
  }, 60_000);
});
