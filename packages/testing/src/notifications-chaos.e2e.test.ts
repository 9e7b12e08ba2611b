// Every fired notification is delivered, although its destination fails repeatedly and the service is killed repeatedly during
// deliveries. `npm run test:chaos` runs it at its full size and kills the service every 10 s.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { records, routeDeclarations as answers } from '@lead-scoring/contracts';
import { eventually } from '@lead-scoring/platform/waiting';
import { isFullSize } from './full-size.js';
import { killService } from './kill-service.js';
import { inParallel } from './ledger.js';
import {
  notificationEvents,
  startNotifiedSystem,
  type FiredNotification,
  type NotifiedSystem,
} from './notified-system.js';
import { failing, startWebhookReceiver, type WebhookReceiver } from './receivers/index.js';

const { leads, failures } = isFullSize ? { leads: 500, failures: 0.3 } : { leads: 60, failures: 0.5 };
const channels = 20;
/** At full size: the time in which leads cross the threshold one after the other, and the interval of the kills. */
const arrivalMs = 120_000;
const killEveryMs = 10_000;
let kills = 0;
const notifications = leads * channels;
// Another seed: other calls fail.
const seed = Number(process.env['SEED'] ?? 20_260_702);
/** The service's limit for webhooks: attempts of one channel whose end is not on the log. */
const inFlight = 4;

let system: NotifiedSystem;
let receiver: WebhookReceiver<FiredNotification>;

beforeAll(async () => {
  receiver = await startWebhookReceiver<FiredNotification>();
  // If every other attempt fails, thirty failures in a row practically never happen.
  system = await startNotifiedSystem([0, ...Array.from({ length: 29 }, () => 1)], {
    instances: { share: 0, 'site-analysis': 0 },
    // A short restart delay, so that the service works most of the time although it is killed every 10 s.
    longestRestartDelayMs: 500,
  });
  const ids: string[] = [];
  for (let n = 0; n < channels; n += 1) {
    const { id, signing_secret } = await system.webhook(`Channel ${n}`, `${receiver.url}channel/${n}`);
    receiver.trust(signing_secret);
    ids.push(id);
  }
  await system.call('createTrigger', {
    body: { name: 'Hot', score_threshold: 25, channel_ids: ids },
  });
  receiver.behave(
    failing(failures, seed, [
      { status: 500 },
      { status: 503, body: 'not now'.repeat(10_000) },
      { status: 429, headers: { 'retry-after': '1' } },
      { status: 302, headers: { location: receiver.url } },
      'disconnect',
      'garbage',
    ]),
  );
}, 120_000);

afterAll(async () => {
  await system.stop();
  await receiver.stop();
}, 60_000);

describe(`${notifications} notifications, ${failures * 100} % of the attempts fail, the service is killed again and again (seed ${seed})`, () => {
  test(
    'every one is delivered',
    async () => {
      const people = Array.from({ length: leads }, (_, n) => `chaos-${n}@example.com`);
      if (isFullSize) await killedAtIntervals(people);
      else await killedInRounds(people);
      await eventually(
        'everything is delivered',
        () => receiver.accepted.size >= notifications,
        isFullSize ? 900_000 : 180_000,
      );
      await eventually(
        'every delivery is recorded',
        async () => {
          const { total } = await system.call<{ total: number }>('listDeliveries', {
            query: { status: 'delivered', limit: '1' },
          });
          return total >= notifications ? true : undefined;
        },
        60_000,
        500,
      );
    },
    isFullSize ? 1_200_000 : 300_000,
  );

  test('there is one webhook id for each lead and channel, and no request is forged', () => {
    expect(receiver.forged).toEqual([]);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(notifications);
    expect(receiver.accepted.size).toBe(notifications);
    const places = [...receiver.accepted.values()].map(
      ({ path, payload }) => `${path} ${payload.data.lead.id}`,
    );
    expect(new Set(places).size).toBe(notifications);
  });

  test('every crossing fired once', async () => {
    const fired = await notificationEvents(system, 'MilestoneFired');
    expect(fired).toHaveLength(leads);
    expect(new Set(fired.map(({ lead_id }) => lead_id)).size).toBe(leads);
  }, 120_000);

  test('every attempt is recorded except those that a kill interrupted, and only these were repeated', async () => {
    const arrivals = new Map<string, number>();
    let successes = 0;
    for (const { id, reaction } of receiver.received) {
      arrivals.set(id, (arrivals.get(id) ?? 0) + 1);
      if (typeof reaction === 'object' && reaction.status === 200) successes += 1;
    }
    const recorded = new Map<string, records.NotificationAttempted[]>();
    for (const attempt of await notificationEvents(system, 'NotificationAttempted'))
      recorded.set(attempt.notification_id, [...(recorded.get(attempt.notification_id) ?? []), attempt]);
    expect(recorded.size).toBe(notifications);
    let unrecorded = 0;
    for (const [id, attempts] of recorded) {
      expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, index) => index + 1));
      expect(attempts.map(({ outcome }) => outcome)).toEqual(
        attempts.map((_, index) => (index === attempts.length - 1 ? 'delivered' : 'retrying')),
      );
      const unseen = (arrivals.get(id) ?? 0) - attempts.length;
      expect(unseen).toBeGreaterThanOrEqual(0);
      unrecorded += unseen;
    }
    const cutOff = kills * channels * inFlight;
    const repeats = successes - notifications;
    expect(unrecorded).toBeLessThanOrEqual(cutOff);
    expect(repeats).toBeLessThanOrEqual(cutOff);
  }, 120_000);

  test('the API shows each delivery as it was recorded', async () => {
    let attempts = 0;
    let read = 0;
    let cursor: string | undefined;
    do {
      const answer = await system.call<{ data: answers.Delivery[]; next_cursor?: string }>('listDeliveries', {
        query: { limit: '100', ...(cursor !== undefined && { cursor }) },
      });
      for (const one of answer.data) {
        expect(one).toMatchObject({ status: 'delivered', last_status: 200 });
        expect(one.next_attempt_at).toBeUndefined();
        attempts += one.attempts;
        read += 1;
      }
      cursor = answer.next_cursor;
    } while (cursor !== undefined);
    const recorded = await notificationEvents(system, 'NotificationAttempted');
    expect({ read, attempts }).toEqual({ read: notifications, attempts: recorded.length });
  }, 180_000);
});

/** Fires in rounds, and kills the service during the deliveries of each round. */
async function killedInRounds(people: readonly string[]): Promise<void> {
  const rounds = 2;
  const slice = Math.ceil(leads / (rounds + 1));
  for (let round = 0; round <= rounds; round += 1) {
    await inParallel(people.slice(round * slice, (round + 1) * slice), 8, fire);
    if (round === rounds) break;
    // Once the deliveries of the earlier rounds are nearly done.
    const enough = round * slice * channels + (slice * channels) / 3;
    await eventually(
      'enough is delivered to be interrupted',
      () => receiver.accepted.size >= enough,
      120_000,
      5,
    );
    await kill();
  }
}

/** Kills the service 10 s after each start, until every notification is delivered. */
async function killedAtIntervals(people: readonly string[]): Promise<void> {
  const startedAt = Date.now();
  const over = new AbortController();
  const isOver = () => over.signal.aborted;
  const killer = (async () => {
    while (!isOver()) {
      const dueAt = Date.now() + killEveryMs;
      await eventually('the next kill is due', () => isOver() || Date.now() >= dueAt, 2 * killEveryMs);
      if (isOver()) return;
      await kill();
      // Waits until the service is ready, because a start takes longer on a busy machine.
      await system.system.ready(60_000);
    }
  })();
  try {
    for (const [index, alias] of people.entries()) {
      await delay(startedAt + (index * arrivalMs) / people.length - Date.now());
      await fire(alias);
    }
    await eventually('all is delivered', () => receiver.accepted.size >= notifications, 900_000);
  } finally {
    over.abort();
    await killer;
  }
  expect(kills).toBeGreaterThanOrEqual(7);
}

async function fire(alias: string): Promise<void> {
  await system.happen(alias, { event_type: 'Form Submit' });
}

async function kill(): Promise<void> {
  kills += 1;
  await killService(system, 'notification');
}
