// The deliverer on a virtual clock: schedule, isolation, order, rates, pauses, and that a restart changes none of them.
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { channelOf, idOf, requestOf } from '../testing/delivery-builders.js';
import {
  gone,
  refused,
  startSimulation,
  taken,
  tooLate,
  type Destination,
  type Simulation,
} from '../testing/delivery-simulation.js';
import { publishedSchedule } from './schedule-model.js';
import { createSlots } from './slots.js';

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;

const never: Destination = () => ({ result: refused });
const slackChannel = (name: string) =>
  channelOf(name, {
    destination: { type: 'slack', config: { channel_id: 'C0000000001', channel_name: '#sales' } },
  });

function timesOf({ sent }: Simulation, channel: string): number[] {
  return sent.filter((one) => one.channel === channel).map(({ at }) => at);
}

describe('the schedule', () => {
  test('is kept within 20 %, eight attempts in all, whenever the process is killed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 30 * hour }), { maxLength: 12 }),
        fc.uuid(),
        async (kills, name) => {
          const simulation = startSimulation({ destination: never });
          await simulation.request(requestOf(name));
          let now = 0;
          for (const kill of [...kills].sort((a, b) => a - b)) {
            await simulation.clock.advance(kill - now);
            now = kill;
            await simulation.kill();
          }
          await simulation.clock.advance(2 * day);
          const times = timesOf(simulation, 'channel');
          expect(times).toHaveLength(8);
          times.slice(1).forEach((at, index) => {
            const scheduled = (publishedSchedule[index + 1] ?? 0) * second;
            const waited = at - (times[index] ?? 0);
            expect(waited).toBeGreaterThanOrEqual(0.8 * scheduled - 1);
            expect(waited).toBeLessThanOrEqual(1.2 * scheduled + 1);
          });
          expect([...simulation.notifications.values()]).toMatchObject([{ status: 'failed', attempts: 8 }]);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('an attempt under way during a kill is sent again, under the same id, and counted once', async () => {
    const simulation = startSimulation({ destination: () => ({ after: 10 * second, result: taken }) });
    await simulation.request(requestOf('one'));
    await simulation.clock.advance(5 * second);
    await simulation.kill();
    await simulation.clock.advance(11 * second);
    expect(simulation.sent.map(({ notification_id }) => notification_id)).toEqual([
      idOf('notification one'),
      idOf('notification one'),
    ]);
    expect([...simulation.notifications.values()]).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });
});

describe('isolation', () => {
  const names = Array.from({ length: 10 }, (_, index) => `channel ${String(index)}`);
  const dead = names[0] ?? '';

  async function finishOfOthers(destinationOfDead: Destination): Promise<number[]> {
    const simulation = startSimulation({
      channels: names.map((name) => channelOf(name)),
      destination: (sent) => (sent.channel === dead ? destinationOfDead(sent) : { after: 10, result: taken }),
    });
    for (const name of names) await simulation.requestMany(name, 300);
    await simulation.clock.advance(60 * second);
    return names.slice(1).map((name) => {
      const times = timesOf(simulation, name);
      expect(times).toHaveLength(300);
      return Math.max(...times);
    });
  }

  test('one destination of ten that hangs, refuses or is gone delays no other by a millisecond', async () => {
    const undisturbed = await finishOfOthers(() => ({ after: 10, result: taken }));
    expect(await finishOfOthers(() => ({ after: 15 * second, result: tooLate }))).toEqual(undisturbed);
    expect(await finishOfOthers(never)).toEqual(undisturbed);
    expect(await finishOfOthers(() => ({ result: gone }))).toEqual(undisturbed);
  });

  test('failing destinations cannot take the slots of working ones', async () => {
    const hanging = Array.from({ length: 20 }, (_, index) => `hanging ${String(index)}`);
    const simulation = startSimulation({
      channels: [...hanging, 'well'].map((name) => channelOf(name)),
      slots: () => createSlots({ maximum: 20, forAiling: 5 }),
      destination: ({ channel }) =>
        channel === 'well' ? { after: 10, result: taken } : { after: 15 * second, result: tooLate },
    });
    for (const name of hanging) await simulation.requestMany(name, 50);
    // By now each of them has failed ten times and more.
    await simulation.clock.advance(hour);
    await simulation.requestMany('well', 100);
    const from = simulation.clock.now();
    await simulation.clock.advance(60 * second);
    const times = timesOf(simulation, 'well');
    expect(times).toHaveLength(100);
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(5 * second);
    expect(simulation.clock.now() - from).toBe(60 * second);
  });

  test('a channel has at most its concurrency of attempts under way', async () => {
    let underWay = 0;
    let most = 0;
    const simulation = startSimulation({
      destination: () => {
        underWay += 1;
        most = Math.max(most, underWay);
        simulation.clock.at(simulation.clock.now() + 999, () => (underWay -= 1));
        return { after: 1_000, result: taken };
      },
    });
    await simulation.requestMany('channel', 40);
    await simulation.clock.advance(60 * second);
    expect(simulation.sent).toHaveLength(40);
    expect(most).toBe(4);
  });

  test('a kill repeats no more than a channel may have under way, however slow the log is', async () => {
    const simulation = startSimulation({
      destination: () => ({ after: 1, result: taken }),
      logDelayMs: 10 * second,
    });
    await simulation.requestMany('channel', 40);
    for (let kills = 1; kills <= 3; kills += 1) {
      await simulation.clock.advance(5 * second);
      await simulation.kill();
    }
    await simulation.clock.advance(hour);
    expect(simulation.sent.filter(({ nth }) => nth > 0).length).toBeLessThanOrEqual(3 * 4);
    expect([...simulation.notifications.values()].every(({ status }) => status === 'delivered')).toBe(true);
  });
});

describe('order', () => {
  test('notifications of one lead are sent in order, one after the other', async () => {
    const simulation = startSimulation({ destination: ({ at }) => ({ after: 1 + (at % 7), result: taken }) });
    const requests = Array.from({ length: 200 }, (_, index) =>
      requestOf(String(index), { lead: `lead ${String(index % 5)}` }),
    );
    await simulation.request(...requests);
    await simulation.clock.advance(60 * second);
    for (let lead = 0; lead < 5; lead += 1) {
      const ofLead = simulation.sent.filter(({ lead_id }) => lead_id === idOf(`lead ${String(lead)}`));
      expect(ofLead.map(({ notification_id }) => notification_id)).toEqual(
        requests.filter((_, index) => index % 5 === lead).map(({ notification_id }) => notification_id),
      );
    }
  });

  test('more notifications than the queue holds are all sent, once, in order', async () => {
    const simulation = startSimulation({ destination: () => ({ after: 1, result: taken }) });
    await simulation.requestMany('channel', 3_000);
    await simulation.clock.advance(120 * second);
    expect(simulation.sent.map(({ notification_id }) => notification_id)).toEqual(
      Array.from({ length: 3_000 }, (_, index) => idOf(`notification channel ${String(index)}`)),
    );
  });
});

test('notifications that are folded during a read of the store are all sent, once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 400 })), {
        minLength: 1,
        maxLength: 12,
      }),
      async (steps) => {
        const simulation = startSimulation({
          destination: () => ({ after: 1, result: taken }),
          storeDelayMs: 20,
        });
        let count = 0;
        for (const [wait, many] of steps) {
          await simulation.clock.advance(wait);
          // Makes the deliverer read the store.
          if (count % 2 === 1) await simulation.resume('channel');
          await simulation.requestMany('channel', many, `part ${String((count += 1))}`);
        }
        await simulation.clock.advance(300 * second);
        const ids = simulation.sent.map(({ notification_id }) => notification_id);
        expect(new Set(ids).size).toBe(simulation.notifications.size);
        expect(ids).toHaveLength(simulation.notifications.size);
      },
    ),
    { numRuns: 30 },
  );
}, 60_000);

describe('rates', () => {
  test('a burst of 100 to a Slack channel goes out at one a second, without loss', async () => {
    const simulation = startSimulation({ channels: [slackChannel('slack')] });
    await simulation.requestMany('slack', 100);
    await simulation.clock.advance(120 * second);
    const times = timesOf(simulation, 'slack');
    expect(times).toHaveLength(100);
    times.slice(1).forEach((at, index) => {
      expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(second);
    });
    expect(Math.max(...times)).toBeLessThan(105 * second);
  });

  test('an idle Slack channel does not exceed its rate afterwards', async () => {
    const simulation = startSimulation({ channels: [slackChannel('slack')] });
    for (let count = 0; count < 5; count += 1) {
      await simulation.request(requestOf(`single ${String(count)}`, { channel: 'slack' }));
      await simulation.clock.advance(300);
    }
    await simulation.clock.advance(10 * second);
    const times = timesOf(simulation, 'slack');
    expect(times).toHaveLength(5);
    times.slice(1).forEach((at, index) => {
      expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(second);
    });
  });
});

describe('a channel that fails', () => {
  test('for five days is paused and probed once an hour; one success sends all pending notifications', async () => {
    let works = false;
    const simulation = startSimulation({ destination: () => ({ result: works ? taken : refused }) });
    for (let count = 0; count < 6; count += 1) {
      await simulation.request(
        requestOf(`day ${String(count)}`, { at: new Date(simulation.clock.now()).toISOString() }),
      );
      await simulation.clock.advance(day);
    }
    expect(simulation.healthOf('channel').paused).toMatchObject({ reason: 'failing' });
    await simulation.requestMany('channel', 20);
    const before = simulation.sent.length;
    await simulation.clock.advance(10 * hour);
    expect(simulation.sent.length - before).toBe(10);
    works = true;
    await simulation.clock.advance(hour + 10 * second);
    expect(simulation.healthOf('channel').paused).toBeNull();
    const statuses = [...simulation.notifications.values()].map(({ status }) => status);
    expect(statuses.filter((status) => status === 'pending')).toEqual([]);
    expect(statuses.filter((status) => status === 'delivered').length).toBeGreaterThanOrEqual(20);
  });

  test('with 410 gets no more requests until it is resumed', async () => {
    let works = false;
    const simulation = startSimulation({ destination: () => ({ result: works ? taken : gone }) });
    await simulation.requestMany('channel', 1);
    await simulation.clock.advance(day);
    await simulation.requestMany('channel', 5);
    await simulation.clock.advance(day);
    expect(simulation.sent).toHaveLength(1);
    works = true;
    await simulation.resume('channel');
    await simulation.clock.advance(second);
    expect([...simulation.notifications.values()].every(({ status }) => status === 'delivered')).toBe(true);
  });

  test('stays paused after a kill of the process', async () => {
    const simulation = startSimulation({ destination: () => ({ result: gone }) });
    await simulation.requestMany('channel', 3);
    await simulation.clock.advance(second);
    const before = simulation.sent.length;
    await simulation.kill();
    await simulation.clock.advance(day);
    expect(simulation.sent).toHaveLength(before);
  });
});

test('all pending notifications of a deleted channel, those in retry included, are cancelled and not sent', async () => {
  const simulation = startSimulation({ destination: never });
  await simulation.requestMany('channel', 3);
  await simulation.clock.advance(second);
  const before = simulation.sent.length;
  simulation.channels.clear();
  await simulation.resume('channel');
  await simulation.clock.advance(second);
  expect([...simulation.notifications.values()].map(({ status }) => status)).toEqual(
    Array.from({ length: 3 }, () => 'cancelled'),
  );
  expect(simulation.sent).toHaveLength(before);
});

test('a delivered notification is sent again by a redelivery, under its id', async () => {
  const simulation = startSimulation();
  await simulation.request(requestOf('one'));
  await simulation.clock.advance(second);
  await simulation.redeliver('channel', [idOf('notification one')], 'again');
  await simulation.redeliver('channel', [idOf('notification one')], 'again');
  await simulation.clock.advance(second);
  expect(simulation.sent.map(({ notification_id, nth }) => [notification_id, nth])).toEqual([
    [idOf('notification one'), 0],
    [idOf('notification one'), 1],
  ]);
});

describe('a notification of a deleted lead', () => {
  const old = { position: 'scoring.events:0:7' };

  test('is not retried, and no other notification is delayed', async () => {
    const simulation = startSimulation({ destination: never });
    await simulation.request(requestOf('one', old), requestOf('two', { ...old, lead: 'bob' }));
    await simulation.clock.advance(second);
    await simulation.forget('channel', 'lead', 8);
    await simulation.clock.advance(2 * day);
    const names = simulation.sent.map(({ notification_id }) => notification_id);
    expect(names.filter((id) => id === idOf('notification one'))).toHaveLength(1);
    expect(names.filter((id) => id === idOf('notification two'))).toHaveLength(8);
    expect([...simulation.notifications.keys()]).toEqual([idOf('notification two')]);
  });

  test('may still arrive when it is under way, and recording that attempt does not restore it', async () => {
    const simulation = startSimulation({ destination: () => ({ after: 10 * second, result: taken }) });
    await simulation.request(requestOf('one', old));
    await simulation.clock.advance(second);
    await simulation.forget('channel', 'lead', 8);
    await simulation.clock.advance(hour);
    expect(simulation.sent).toHaveLength(1);
    expect([...simulation.notifications]).toEqual([]);
    expect(simulation.events.map(({ type }) => type)).toEqual([
      'NotificationRequested',
      'NotificationsForgotten',
    ]);
    // The channel still delivers notifications of a new lead with the id.
    await simulation.request(requestOf('two', { position: 'scoring.events:0:9' }));
    await simulation.clock.advance(hour);
    expect([...simulation.notifications.values()]).toMatchObject([{ status: 'delivered' }]);
  });
});
