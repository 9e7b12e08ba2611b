// Simulates delivery in one partition without servers, on a virtual clock: the real deliverer, deciders and folds, a log in memory,
// and destinations that a test programs.
import type { records } from '@lead-scoring/contracts';
import { createLogger } from '@lead-scoring/service';
import type { Channel } from '../configuration/state.js';
import {
  decideAttempt,
  decideForgetting,
  decideRedelivery,
  decideRequest,
  decideResume,
} from '../delivery/decide.js';
import { Deliverer } from '../delivery/deliverer.js';
import { notificationsIn, type DeliveryEvent } from '../delivery/messages.js';
import { evolveHealth, evolveNotification } from '../delivery/evolve.js';
import { publishedLimits, type ChannelLimits } from '../delivery/limits.js';
import { publishedPolicy, type DeliveryPolicy } from '../delivery/schedule-model.js';
import type { AttemptResult, DestinationType } from '../delivery/senders/sender.js';
import { createSlots, type Slots } from '../delivery/slots.js';
import { healthyChannel, subjectIdOf, type ChannelHealth, type Notification } from '../delivery/state.js';
import { waitingOf } from '../delivery/waiting-notification.js';
import { channelOf, idOf, requestOf } from './delivery-builders.js';
import { createVirtualClock, settled, type VirtualClock } from './virtual-clock.js';

export interface Sent {
  channel: string;
  notification_id: string;
  lead_id: string | null;
  /** Milliseconds since the simulation began. */
  at: number;
  /** Number of earlier attempts of the notification. */
  nth: number;
}

/** The answer of a destination, at once or after `after` milliseconds. */
export type Destination = (sent: Sent) => { after?: number; result?: AttemptResult };

export const taken: AttemptResult = { outcome: 'delivered', status: 204, detail: 'answered 204.' };
export const refused: AttemptResult = {
  outcome: 'failed',
  reason: 'status',
  status: 500,
  detail: 'answered 500.',
};
export const tooLate: AttemptResult = { outcome: 'failed', reason: 'timeout', detail: 'no answer.' };
export const gone: AttemptResult = {
  outcome: 'failed',
  reason: 'gone',
  status: 410,
  detail: 'answered 410.',
};

export interface Simulation {
  clock: VirtualClock;
  sent: Sent[];
  channels: Map<string, Channel>;
  notifications: Map<string, Notification>;
  events: DeliveryEvent[];
  healthOf(channel: string): ChannelHealth;
  request(...requests: records.RequestNotification[]): Promise<void>;
  /** Requests a number of notifications to a channel, each of another lead. */
  requestMany(channel: string, count: number, name?: string): Promise<void>;
  resume(channel: string): Promise<void>;
  redeliver(channel: string, ids: string[], redeliveryId: string): Promise<void>;
  /** Forgets the channel's notifications of a lead that records of scoring before an offset caused. */
  forget(channel: string, lead: string, before: number): Promise<void>;
  /** Kills the process: attempts under way are never recorded. Another process takes over. */
  kill(): Promise<void>;
}

export interface SimulationOptions {
  destination?: Destination;
  policy?: DeliveryPolicy;
  limits?: Readonly<Record<DestinationType, ChannelLimits>>;
  /** Number of slots of each process. */
  slots?: () => Slots;
  channels?: Channel[];
  /** Milliseconds between a read of the store and its answer. */
  storeDelayMs?: number;
  /** Milliseconds until a written command is on the log. */
  logDelayMs?: number;
}

export function startSimulation({
  destination = () => ({}),
  policy = publishedPolicy,
  limits = publishedLimits,
  slots = () => createSlots({ maximum: 1_000, forAiling: 200 }),
  channels: known = [channelOf()],
  storeDelayMs = 0,
  logDelayMs = 0,
}: SimulationOptions = {}): Simulation {
  const clock = createVirtualClock();
  const start = clock.now();
  const sent: Sent[] = [];
  const events: DeliveryEvent[] = [];
  const notifications = new Map<string, Notification>();
  const offsets = new Map<string, number>();
  const healths = new Map<string, ChannelHealth>();
  const channels = new Map(known.map((channel) => [channel.id, channel]));
  let generation = 0;

  const waiting = () =>
    [...notifications.values()]
      .filter(({ status }) => status === 'pending')
      .map((notification) => waitingOf(notification, offsets.get(notification.notification_id) ?? 0));

  let deliverer = open();
  deliverer.begin();

  function passed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (ms === 0) resolve();
      else clock.at(clock.now() + ms, resolve);
    });
  }

  function open(): Deliverer {
    const own = generation;
    return new Deliverer(
      {
        store: {
          notifications: (ids) =>
            Promise.resolve(new Map([...ids].map((id) => [id, notifications.get(id) ?? null]))),
          health: (ids) => Promise.resolve(new Map([...ids].map((id) => [id, healths.get(id) ?? null]))),
          channelsThatWait: () => Promise.resolve(waiting()),
          waitingFor: (channelId, limit) => {
            const found = waiting()
              .filter(({ channel_id }) => channel_id === channelId)
              .sort((a, b) => a.due - b.due || a.offset - b.offset)
              .slice(0, limit);
            return passed(storeDelayMs).then(() => found);
          },
        },
        channelOf: (_ouId, channelId) => Promise.resolve(channels.get(channelId) ?? null),
        send: (channel, notification) => {
          if (own !== generation) return new Promise(() => undefined);
          const { notification_id } = notification;
          const one: Sent = {
            channel: channel.name,
            notification_id,
            lead_id: subjectIdOf(notification) ?? null,
            at: clock.now() - start,
            nth: sent.filter((other) => other.notification_id === notification_id).length,
          };
          sent.push(one);
          const { after = 0, result = taken } = destination(one);
          return passed(after).then(() => result);
        },
        record: async (attempt) => {
          await passed(logDelayMs);
          // A killed process writes nothing more.
          if (own !== generation) return new Promise(() => undefined);
          const { notification_id, channel_id, ou_id } = attempt;
          const happened = decideAttempt(
            attempt,
            notifications.get(notification_id) ?? null,
            healths.get(channel_id) ?? healthyChannel(ou_id, channel_id),
            policy,
          );
          fold(happened);
          if (happened.length === 0) deliverer.known(attempt, notification_id);
        },
        slots: slots(),
        clock,
        logger: createLogger({ name: 'test', level: 'silent' }),
      },
      { policy, limits },
    );
  }

  function fold(happened: readonly DeliveryEvent[]): void {
    const touched = new Set<string>();
    const forgotten: Notification[] = [];
    const channelIds = new Set<string>();
    for (const event of happened) {
      events.push(event);
      if (event.type === 'NotificationsForgotten')
        for (const [id, before] of notifications)
          if (!evolveNotification(before, event)) {
            notifications.delete(id);
            forgotten.push(before);
          }
      for (const id of notificationsIn(event)) {
        const after = evolveNotification(notifications.get(id) ?? null, event);
        if (after) notifications.set(id, after);
        offsets.set(id, events.length);
        touched.add(id);
      }
      const { channel_id } = event.payload;
      healths.set(channel_id, evolveHealth(healths.get(channel_id) ?? null, event));
      channelIds.add(channel_id);
    }
    deliverer.folded({
      notifications: [...touched].flatMap((id) => {
        const notification = notifications.get(id);
        return notification ? [{ notification, offset: offsets.get(id) ?? 0 }] : [];
      }),
      attempted: new Set(
        happened.flatMap((event) =>
          event.type === 'NotificationAttempted' ? [event.payload.notification_id] : [],
        ),
      ),
      forgotten,
      health: [...channelIds].flatMap((id) => healths.get(id) ?? []),
    });
  }

  const request = async (...requests: records.RequestNotification[]) => {
    fold(requests.flatMap((one) => decideRequest(one, notifications.get(one.notification_id) ?? null)));
    await settled();
  };

  const now = () => new Date(clock.now()).toISOString();

  return {
    clock,
    sent,
    channels,
    notifications,
    events,
    healthOf: (channel) => healths.get(idOf(channel)) ?? healthyChannel('', idOf(channel)),
    request,
    requestMany: (channel, count, name = channel) =>
      request(
        ...Array.from({ length: count }, (_, index) =>
          requestOf(`${name} ${String(index)}`, { channel, lead: `lead ${String(index)}`, at: now() }),
        ),
      ),
    resume: async (channel) => {
      const command = {
        ou_id: channelOf().ou_id,
        channel_id: idOf(channel),
        cause: 'request' as const,
        requested_at: now(),
      };
      fold(decideResume(command, healths.get(command.channel_id) ?? healthyChannel('', '')));
      deliverer.look(command);
      await settled();
    },
    redeliver: async (channel, ids, redeliveryId) => {
      const command = {
        ou_id: channelOf().ou_id,
        channel_id: idOf(channel),
        redelivery_id: idOf(redeliveryId),
        notification_ids: ids,
        requested_at: now(),
      };
      fold(
        decideRedelivery(
          command,
          ids.flatMap((id) => notifications.get(id) ?? []),
        ),
      );
      await settled();
    },
    forget: async (channel, lead, before) => {
      fold([
        decideForgetting({
          ou_id: channelOf().ou_id,
          channel_id: idOf(channel),
          lead_id: idOf(lead),
          before: { topic: 'scoring.events', partition: 0, offset: before },
          requested_at: now(),
        }),
      ]);
      await settled();
    },
    kill: async () => {
      generation += 1;
      deliverer = open();
      deliverer.begin();
      await settled();
    },
  };
}
