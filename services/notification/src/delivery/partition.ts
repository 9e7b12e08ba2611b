// What the service knows of the deliveries of one partition: decides on notifications and attempts, folds what happened to
// them, and has what waits sent.
import { randomUUID } from 'node:crypto';
import { records, type JsonValue } from '@lead-scoring/contracts';
import {
  isRecord,
  outgoing,
  takenOf,
  type Decision,
  type FoldedRecord,
  type IncomingRecord,
  type OutgoingRecord,
  type RecordWriter,
  type Reply,
  type Touch,
} from '@lead-scoring/event-log';
import { offsetToNumber, type ReadModel } from '@lead-scoring/read-model';
import type { Logger } from '@lead-scoring/service';
import { deliveryCommands } from '../inputs.js';
import type { NotificationConfiguration } from '../configuration/state.js';
import type { Clock } from './clock.js';
import {
  decideAttempt,
  decideForgetting,
  decideRedelivery,
  decideRequest,
  decideResume,
  decideTest,
  testResultOf,
} from './decide.js';
import { createDeliverer } from './deliverer.js';
import { notificationsIn, type DeliveryEvent } from './events.js';
import { evolveHealth, evolveNotification } from './evolve.js';
import type { ChannelLimits } from './limits.js';
import type { DeliveryPolicy } from './schedule-model.js';
import type { DestinationType } from './senders/sender.js';
import type { SendNotification } from './senders/senders.js';
import type { Slots } from './slots.js';
import { healthyChannel, isTest, type Caller, type Notification } from './state.js';
import { createDeliveryStore } from './store.js';

export interface DeliveryOptions {
  /** Shared by the partitions of a process, as are sending and slots. */
  configurations: {
    load(ouIds: Iterable<string>): Promise<ReadonlyMap<string, NotificationConfiguration>>;
  };
  send: SendNotification;
  slots: Slots;
  writer: Pick<RecordWriter, 'write'>;
  policy: DeliveryPolicy;
  limits: Readonly<Record<DestinationType, ChannelLimits>>;
  clock: Clock;
  logger: Logger;
  /** Notifications that a partition keeps in hand. */
  cachedNotifications?: number;
}

/** The part of a partition's state that deliveries are. Records of other parts are passed over. */
export interface DeliveryPartition {
  decide(incoming: readonly IncomingRecord[]): Promise<
    Required<Pick<Decision, 'events' | 'commands'>> & {
      /** Resolves when what was folded is written: who gets a reply may read what it speaks of. */
      replies: () => Promise<Reply[]>;
    }
  >;
  /** What is folded is sent at once, and written beside what follows. */
  fold(events: readonly FoldedRecord[]): Promise<void>;
  /** Resolves when all that is folded as of this call is written. */
  written(): Promise<void>;
  caughtUp(): void;
  reset(touch: Touch): Promise<void>;
  close(): Promise<void>;
}

/** A change of configuration is published when its own partition has folded it: soon after it was decided. */
const publishedWithinMs = 10_000;
const pauseBetweenLooksMs = 20;

/** Passes by itself. */
class ConfigurationNotInForce extends Error {
  override readonly name = 'ConfigurationNotInForce';
  readonly retriable = true;
}

/** Notifications that one step of a redelivery takes. */
const redeliveredAtOnce = 500;
const pauseBetweenWritesMs = 500;

const channelNotFound = {
  outcome: 'rejected',
  code: 'notification_channel_not_found',
  message: 'There is no notification channel with this id in the organizational unit.',
} as const;
const deliveryNotFound = {
  outcome: 'rejected',
  code: 'delivery_not_found',
  message: 'There is no delivery with this id in the organizational unit.',
} as const;

/** Notifications that are to be delivered once more. */
interface Range {
  ids: readonly string[];
  /** Where the next step goes on; undefined: this is the last. */
  after?: string;
  /** Of all steps. */
  count?: number;
}

export function openDelivery(
  readModel: ReadModel,
  partition: number,
  options: DeliveryOptions,
): DeliveryPartition {
  const { configurations, send, slots, writer, policy, limits, clock, logger } = options;
  const store = createDeliveryStore(readModel, partition, {
    cachedNotifications: options.cachedNotifications ?? 10_000,
  });
  const channelOf = async (ouId: string, channelId: string) =>
    (await configurations.load([ouId])).get(ouId)?.channels.get(channelId) ?? null;
  const deliverer = createDeliverer(
    { store, channelOf, send, record, slots, clock, logger },
    { policy, limits },
  );
  const owner = randomUUID();
  const closing = new AbortController();
  /** Tests that are under way, and those who asked for them again. Lost with the partition: such a caller gets 504. */
  const awaiting = new Map<string, IncomingRecord[]>();
  /** What is to happen once the events of the batch are folded. */
  let afterwards: (() => void)[] = [];

  async function record(attempt: records.RecordAttempt, caller: Caller | null): Promise<void> {
    await writer.write([
      outgoing(records.recordAttempt, {
        key: attempt.channel_id,
        payload: attempt,
        ...(caller && { headers: headersOf(caller) }),
      }),
    ]);
  }

  /** Until what a channel was changed to is what is sent to, or what is resumed would go where it was paused. */
  async function inForce({ payload }: IncomingRecord<records.ResumeChannel>): Promise<void> {
    const { ou_id, configuration_version: wanted = 0 } = payload;
    const deadline = clock.now() + publishedWithinMs;
    for (;;) {
      const version = (await configurations.load([ou_id])).get(ou_id)?.version ?? 0;
      if (version >= wanted) return;
      if (clock.now() > deadline)
        throw new ConfigurationNotInForce(`version ${version} of a configuration is in force, not ${wanted}`);
      await new Promise((resolve) => setTimeout(resolve, pauseBetweenLooksMs));
    }
  }

  async function decide(incoming: readonly IncomingRecord[]) {
    for (const record of incoming) if (isRecord(record, records.resumeChannel)) await inForce(record);
    const ranges = await findRanges(incoming);
    const inRanges = [...ranges.values()].flatMap(({ ids }) => ids);
    const [notifications, channels, healths, asked] = await Promise.all([
      store.notifications([...incoming.flatMap(notificationIdsOf), ...inRanges]),
      configurations.load(incoming.flatMap(ouIdsOf)),
      store.health(incoming.flatMap(channelIdsOf)),
      findAsked(incoming),
    ]);
    const events: OutgoingRecord[] = [];
    const commands: OutgoingRecord[] = [];
    const replies: Reply[] = [];
    afterwards = [];

    const known = (id: string) => notifications.get(id) ?? null;
    const healthOf = ({ ou_id, channel_id }: { ou_id: string; channel_id: string }) =>
      healths.get(channel_id) ?? healthyChannel(ou_id, channel_id);
    const channelIn = ({ ou_id, channel_id }: { ou_id: string; channel_id: string }) =>
      channels.get(ou_id)?.channels.get(channel_id) ?? null;
    const happen = (happened: readonly DeliveryEvent[]) => {
      for (const event of happened) {
        const { channel_id } = event.payload;
        const ids = event.type === 'NotificationsForgotten' ? notifications.keys() : notificationsIn(event);
        for (const id of ids) notifications.set(id, evolveNotification(known(id), event));
        healths.set(channel_id, evolveHealth(healths.get(channel_id) ?? null, event));
        events.push(eventRecord(event));
      }
    };

    for (const one of incoming) {
      const record = takenOf('notification.commands', deliveryCommands, one);
      switch (record?.type) {
        case 'RequestNotification': {
          happen(decideRequest(record.payload, known(record.payload.notification_id)));
          break;
        }
        case 'RecordAttempt': {
          const { payload } = record;
          const { notification_id } = payload;
          const happened = decideAttempt(payload, known(notification_id), healthOf(payload), policy);
          happen(happened);
          if (happened.length === 0)
            afterwards.push(() => {
              deliverer.known(payload, notification_id);
            });
          const after = known(notification_id);
          const result = after && isTest(after) ? testResultOf(after) : null;
          if (result) {
            for (const to of [record, ...(awaiting.get(notification_id) ?? [])])
              replies.push({ to, reply: done(result) });
            awaiting.delete(notification_id);
          }
          break;
        }
        case 'TestChannel': {
          const { notification_id } = record.payload;
          const channel = channelIn(record.payload);
          const before = known(notification_id);
          const result = before && testResultOf(before);
          if (result) replies.push({ to: record, reply: done(result) });
          else if (before) awaiting.set(notification_id, [...(awaiting.get(notification_id) ?? []), record]);
          else if (!channel) replies.push({ to: record, reply: channelNotFound });
          else {
            const { name, destination } = channel;
            happen(decideTest(record.payload, { name, type: destination.type }, callerOf(record), null));
          }
          break;
        }
        case 'ResumeChannel': {
          const { payload } = record;
          const channel = channelIn(payload);
          happen(decideResume(payload, healthOf(payload)));
          afterwards.push(() => {
            deliverer.look(payload);
          });
          replies.push({
            to: record,
            reply: channel ? done({ status: 'active' }) : channelNotFound,
          });
          break;
        }
        case 'RedeliverNotification': {
          const { ou_id, notification_id, redelivery_id, requested_at, actor } = record.payload;
          const found = asked.get(notification_id);
          const caller = callerOf(record);
          if (found?.ou_id !== ou_id) replies.push({ to: record, reply: deliveryNotFound });
          else
            commands.push(
              outgoing(records.redeliverNotifications, {
                key: found.channel_id,
                payload: {
                  ou_id,
                  channel_id: found.channel_id,
                  redelivery_id,
                  notification_ids: [notification_id],
                  requested_at,
                  actor,
                },
                ...(caller && { headers: headersOf(caller) }),
              }),
            );
          break;
        }
        case 'RedeliverNotifications': {
          const { payload } = record;
          const range = ranges.get(record);
          if (!channelIn(payload) || !range) {
            replies.push({ to: record, reply: channelNotFound });
            continue;
          }
          const wanted = range.ids.flatMap((id) => known(id) ?? []);
          if (payload.notification_ids && wanted.length === 0) {
            // Forgotten since it was found.
            replies.push({ to: record, reply: deliveryNotFound });
            continue;
          }
          const happened = decideRedelivery(payload, wanted);
          happen(happened);
          if (range.after !== undefined)
            commands.push(
              outgoing(records.redeliverNotifications, {
                key: payload.channel_id,
                payload: { ...payload, after: range.after },
              }),
            );
          // The first step answers for all of them.
          if (payload.after === undefined)
            replies.push({
              to: record,
              reply: done({
                redelivered:
                  range.count ??
                  happened.reduce((sum, event) => sum + event.payload.notification_ids.length, 0),
              }),
            });
          break;
        }
        case 'ForgetLead': {
          happen([decideForgetting(record.payload)]);
          break;
        }
        case 'BeginDelivery': {
          if (record.payload.owner === owner)
            afterwards.push(() => {
              deliverer.begin();
            });
          break;
        }
        case undefined:
      }
    }
    if (events.length === 0) runAfterwards();
    return {
      events,
      commands,
      replies: async () => {
        if (replies.length > 0) await store.written();
        return replies;
      },
    };
  }

  function runAfterwards(): void {
    const due = afterwards;
    afterwards = [];
    for (const run of due) run();
  }

  /** Deliveries of any partition: what is asked for is forwarded to its own. */
  async function findAsked(incoming: readonly IncomingRecord[]): Promise<Map<string, Notification>> {
    const ids = incoming.flatMap((record) =>
      isRecord(record, records.redeliverNotification) ? [record.payload.notification_id] : [],
    );
    return ids.length === 0 ? new Map() : store.find(ids);
  }

  /** What each step of a redelivery is about, and where the next one goes on. */
  async function findRanges(incoming: readonly IncomingRecord[]): Promise<Map<IncomingRecord, Range>> {
    const found = new Map<IncomingRecord, Range>();
    for (const record of incoming) {
      if (!isRecord(record, records.redeliverNotifications)) continue;
      const { channel_id, notification_ids, since, undelivered_only, after, requested_at } = record.payload;
      if (since === undefined) {
        found.set(record, { ids: notification_ids ?? [] });
        continue;
      }
      const within = {
        channel_id,
        since,
        until: requested_at,
        undeliveredOnly: undelivered_only ?? false,
      };
      const step = await store.requestedWithin({
        ...within,
        after: after === undefined ? null : placeOf(after),
        limit: redeliveredAtOnce,
      });
      const last = step.length === redeliveredAtOnce ? step.at(-1) : undefined;
      found.set(record, {
        ids: step.map(({ notification_id }) => notification_id),
        ...(last && { after: `${last.requested_at} ${last.notification_id}` }),
        ...(after === undefined && { count: await store.countRequestedWithin(within) }),
      });
    }
    return found;
  }

  /** Says on the log that this process has the partition: what it sent before this is decided before it comes back. */
  async function announce(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const requested_at = new Date(clock.now()).toISOString();
        await writer.write([
          outgoing(records.beginDelivery, { key: owner, partition, payload: { owner, requested_at } }),
        ]);
        return;
      } catch (error) {
        logger.warn({ err: error, partition }, 'deliveries cannot begin yet');
        await new Promise((resolve) => setTimeout(resolve, pauseBetweenWritesMs));
      }
    }
  }

  return {
    decide,
    fold: async (folded) => {
      const events = folded.flatMap((record) => {
        const event = deliveryEvent(record);
        return event ? [{ event, offset: offsetToNumber(record.offset) }] : [];
      });
      if (events.length > 0) deliverer.folded(await store.fold(events));
      runAfterwards();
    },
    written: () => store.written(),
    caughtUp: () => {
      void announce();
    },
    reset: async (touch) => {
      // What it has in hand is about to go; the state that is opened next takes up what comes back.
      await deliverer.stop();
      await store.reset(touch);
    },
    close: async () => {
      closing.abort();
      await deliverer.stop();
      await Promise.allSettled([store.written()]);
    },
  };
}

function placeOf(after: string): { at: string; notification_id: string } {
  const [at = '', notification_id = ''] = after.split(' ');
  return { at, notification_id };
}

function done(result: unknown): records.CommandReplied {
  return { outcome: 'done', result: result as JsonValue };
}

function callerOf({ headers }: Pick<IncomingRecord, 'headers'>): Caller | null {
  const { 'reply-to': reply_to, 'correlation-id': correlation_id } = headers;
  return reply_to !== undefined && correlation_id !== undefined ? { reply_to, correlation_id } : null;
}

function headersOf({ reply_to, correlation_id }: Caller): Record<string, string> {
  return { 'reply-to': reply_to, 'correlation-id': correlation_id };
}

function notificationIdsOf(record: IncomingRecord): string[] {
  return isRecord(record, records.requestNotification) ||
    isRecord(record, records.recordAttempt) ||
    isRecord(record, records.testChannel)
    ? [record.payload.notification_id]
    : [];
}

/** Of which the channel has to be there. */
function ouIdsOf(record: IncomingRecord): string[] {
  return isRecord(record, records.testChannel) ||
    isRecord(record, records.resumeChannel) ||
    isRecord(record, records.redeliverNotifications)
    ? [record.payload.ou_id]
    : [];
}

function channelIdsOf(record: IncomingRecord): string[] {
  return isRecord(record, records.recordAttempt) || isRecord(record, records.resumeChannel)
    ? [record.payload.channel_id]
    : [];
}

function deliveryEvent(record: FoldedRecord): DeliveryEvent | null {
  if (isRecord(record, records.notificationRequested))
    return { type: 'NotificationRequested', payload: record.payload, caller: callerOf(record) };
  if (isRecord(record, records.notificationAttempted))
    return { type: 'NotificationAttempted', payload: record.payload };
  if (isRecord(record, records.notificationsRedelivered))
    return { type: 'NotificationsRedelivered', payload: record.payload };
  if (isRecord(record, records.notificationsForgotten))
    return { type: 'NotificationsForgotten', payload: record.payload };
  if (isRecord(record, records.channelPaused)) return { type: 'ChannelPaused', payload: record.payload };
  if (isRecord(record, records.channelResumed)) return { type: 'ChannelResumed', payload: record.payload };
  return null;
}

function eventRecord(event: DeliveryEvent): OutgoingRecord {
  const key = event.payload.channel_id;
  switch (event.type) {
    case 'NotificationRequested':
      return outgoing(records.notificationRequested, {
        key,
        payload: event.payload,
        ...(event.caller && { headers: headersOf(event.caller) }),
      });
    case 'NotificationAttempted':
      return outgoing(records.notificationAttempted, { key, payload: event.payload });
    case 'NotificationsRedelivered':
      return outgoing(records.notificationsRedelivered, { key, payload: event.payload });
    case 'NotificationsForgotten':
      return outgoing(records.notificationsForgotten, { key, payload: event.payload });
    case 'ChannelPaused':
      return outgoing(records.channelPaused, { key, payload: event.payload });
    case 'ChannelResumed':
      return outgoing(records.channelResumed, { key, payload: event.payload });
  }
}
