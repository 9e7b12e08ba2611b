// Sends what waits in a partition, each channel in its own lane: a lane waits for its own destination, its own rate and its
// own retries, never for another's. What came of an attempt goes to the log as a command; until that is folded, the
// notification is not sent again.
import { records } from '@lead-scoring/contracts';
import { isRetriable } from '@lead-scoring/event-log';
import type { Logger } from '@lead-scoring/service';
import type { Channel } from '../configuration/state.js';
import type { Clock } from './clock.js';
import {
  emptyLane,
  firstDue,
  isIdle,
  isInHand,
  maximumInHand,
  nextDue,
  putIn,
  takeOut,
  type Lane,
} from './lane.js';
import { forgottenAt, mayNextAt, spendOne, type ChannelLimits } from './limits.js';
import type { DeliveryPolicy } from './schedule-model.js';
import { failed, type AttemptResult, type DestinationType } from './senders/sender.js';
import type { SendNotification } from './senders/senders.js';
import type { Slots } from './slots.js';
import type { Caller, ChannelHealth, Notification } from './state.js';
import { waitingOf, type DeliveryStore, type Folded, type Waiting } from './store.js';

export interface Deliverer {
  /** Begins to send: what waits, and from then on what is folded. */
  begin(): void;
  /** What has changed in the store. */
  folded(changes: Folded): void;
  /** The record of this attempt has changed nothing: it was known already. */
  known(channel: { channel_id: string; ou_id: string }, notificationId: string): void;
  /** Something about this channel has changed besides what is folded here. */
  look(channel: { channel_id: string; ou_id: string }): void;
  /** Begins nothing more, and resolves when nothing is under way. */
  stop(): Promise<void>;
}

export interface DelivererDependencies {
  store: Pick<DeliveryStore, 'notifications' | 'health' | 'channelsThatWait' | 'waitingFor'>;
  /** As configured now; null when it was deleted. */
  channelOf: (ouId: string, channelId: string) => Promise<Channel | null>;
  send: SendNotification;
  /** Puts the end of an attempt on the log. */
  record: (attempt: records.RecordAttempt, caller: Caller | null) => Promise<void>;
  /** Shared by the partitions of a process. */
  slots: Slots;
  clock: Clock;
  logger: Logger;
}

export interface DelivererConfiguration {
  policy: Pick<DeliveryPolicy, 'probeEveryMs'>;
  limits: Readonly<Record<DestinationType, ChannelLimits>>;
}

/** Attempts of a channel that may wait until their record is folded. */
const maximumUnrecorded = 64;
/** What is in hand is added to before it runs out. */
const refillBelow = 100;
/** After so many failures in a row a destination gets one attempt at a time. */
const failuresUntilAiling = 10;
/** Until what has failed for another reason than a destination's is tried again. */
const pauseMs = 1_000;
/** What is under way when the partition goes away may end by itself for so long. */
const graceMs = 3_000;

export function createDeliverer(
  { store, channelOf, send, record, slots, clock, logger }: DelivererDependencies,
  { policy, limits }: DelivererConfiguration,
): Deliverer {
  const lanes = new Map<string, Lane>();
  /** Lanes in their turn, and those that are to have another. */
  const working = new Set<Lane>();
  const again = new Set<Lane>();
  /** What is forgotten when a lane has its next turn. */
  const alarms = new Map<Lane, () => void>();
  const attempts = new Set<Promise<void>>();
  const cutOff = new AbortController();
  let begun = false;
  let stopped = false;

  function laneOf({ channel_id, ou_id }: { channel_id: string; ou_id: string }): Lane {
    let lane = lanes.get(channel_id);
    if (!lane) lanes.set(channel_id, (lane = emptyLane(channel_id, ou_id)));
    return lane;
  }

  function run(lane: Lane): void {
    if (stopped || !begun) return;
    if (working.has(lane)) {
      again.add(lane);
      return;
    }
    working.add(lane);
    turn(lane)
      .catch((error: unknown) => {
        logger.warn({ err: error, channel_id: lane.channel_id }, 'a channel cannot be looked after yet');
        wakeAt(lane, clock.now() + pauseMs);
      })
      .finally(() => {
        working.delete(lane);
        if (again.delete(lane)) run(lane);
      });
  }

  function wakeAt(lane: Lane, moment: number): void {
    alarms.get(lane)?.();
    if (stopped) return;
    alarms.set(
      lane,
      clock.at(moment, () => {
        alarms.delete(lane);
        run(lane);
      }),
    );
  }

  /** Starts what can be started now, and sees to it that the lane has another turn when more can be. */
  async function turn(lane: Lane): Promise<void> {
    alarms.get(lane)?.();
    alarms.delete(lane);
    if (lane.more && lane.entries.length < refillBelow) await refill(lane);
    if (lane.health === undefined) {
      const loaded = (await store.health([lane.channel_id])).get(lane.channel_id) ?? null;
      // What was folded meanwhile is newer.
      lane.health ??= loaded;
    }
    if (isIdle(lane)) {
      retire(lane);
      return;
    }
    const now = clock.now();
    if (lane.tests.length === 0 && !lane.lookAgain && !firstDue(lane, now)) {
      wakeForNext(lane, now, now);
      return;
    }
    const channel = await channelOf(lane.ou_id, lane.channel_id);
    lane.lookAgain = false;
    if (stopped) return;
    if (!channel) {
      cancel(lane);
      return;
    }
    for (const test of [...lane.tests]) {
      lane.spent = spendOne(lane.spent, limits[channel.destination.type], now);
      start(lane, channel, test, () => undefined);
    }
    const moment = startDue(lane, channel, clock.now());
    if (moment !== null) wakeForNext(lane, clock.now(), moment);
  }

  /**
   * Starts what is due, as far as the channel may have it.
   * @returns the moment at which to look again; null when something under way will see to it
   */
  function startDue(lane: Lane, channel: Channel, now: number): number | null {
    const ofType = limits[channel.destination.type];
    const health = lane.health ?? null;
    const ailing = (health?.failures ?? 0) >= failuresUntilAiling;
    for (;;) {
      const paused = health?.paused ?? null;
      if (paused) {
        const probe = probeAt(health, paused);
        if (probe === null || lane.unrecorded.size > 0) return null;
        if (probe > now) return probe;
      }
      if (lane.unrecorded.size >= maximumUnrecorded) return null;
      if (lane.inFlight >= (ailing || paused ? 1 : ofType.concurrency)) return null;
      const entry = firstDue(lane, now);
      if (!entry) return now;
      const may = mayNextAt(lane.spent, ofType, now);
      if (may > now) return may;
      const giveBack = slots.take(ailing);
      if (!giveBack) {
        waitForSlot(lane, ailing, now);
        return null;
      }
      lane.spent = spendOne(lane.spent, ofType, now);
      lane.inFlight += 1;
      if (entry.lead_id !== null) lane.leads.add(entry.lead_id);
      start(lane, channel, entry, () => {
        giveBack();
        lane.inFlight -= 1;
        if (entry.lead_id !== null) lane.leads.delete(entry.lead_id);
      });
    }
  }

  /** Whoever gets a free slot may have no use for it any more, so it is looked for after a while as well. */
  function waitForSlot(lane: Lane, ailing: boolean, now: number): void {
    const forget = slots.whenFree(ailing, () => {
      run(lane);
    });
    wakeAt(lane, now + pauseMs);
    const forgetAlarm = alarms.get(lane);
    alarms.set(lane, () => {
      forget();
      forgetAlarm?.();
    });
  }

  /** When a paused channel is tried; one that wants nothing more is not. */
  function probeAt(health: ChannelHealth | null, paused: { reason: string; at: string }): number | null {
    if (paused.reason === 'gone') return null;
    const last = Math.max(Date.parse(paused.at), Date.parse(health?.last_attempt_at ?? paused.at));
    return last + policy.probeEveryMs;
  }

  /** @param atLeast nothing can be started before this moment */
  function wakeForNext(lane: Lane, now: number, atLeast: number): void {
    if (atLeast > now) wakeAt(lane, atLeast);
    else {
      const next = nextDue(lane, now);
      if (next !== null) wakeAt(lane, next);
    }
  }

  /** A lane is let go when what it has sent counts no more. */
  function retire(lane: Lane): void {
    const slowest = Math.max(...Object.values(limits).map((of) => forgottenAt(lane.spent, of)));
    if (slowest > clock.now()) wakeAt(lane, slowest);
    else lanes.delete(lane.channel_id);
  }

  async function refill(lane: Lane): Promise<void> {
    const limit = maximumInHand + lane.unrecorded.size;
    // What is folded from here on may not be in the answer, so nothing of it is left to the store; and what ends from
    // here on may still be in it, as if it waited.
    lane.more = false;
    const underWay = new Set(lane.unrecorded);
    const found = await store.waitingFor(lane.channel_id, limit).catch((error: unknown) => {
      lane.more = true;
      throw error;
    });
    for (const waiting of found)
      if (
        !underWay.has(waiting.notification_id) &&
        !lane.unrecorded.has(waiting.notification_id) &&
        !isInHand(lane, waiting.notification_id)
      )
        putIn(lane, waiting);
    if (found.length === limit) lane.more = true;
  }

  /** The channel was deleted: what waits for it is recorded as cancelled. */
  function cancel(lane: Lane): void {
    const room = Math.max(0, maximumUnrecorded - lane.unrecorded.size);
    for (const entry of [...lane.tests, ...lane.entries].slice(0, room))
      start(lane, null, entry, () => undefined);
  }

  function start(lane: Lane, channel: Channel | null, entry: Waiting, release: () => void): void {
    takeOut(lane, entry.notification_id);
    lane.unrecorded.add(entry.notification_id);
    const work = attempt(lane, channel, entry, release).catch((error: unknown) => {
      const { notification_id } = entry;
      logger.warn({ err: error, notification_id }, 'a notification cannot be looked after yet');
      lane.unrecorded.delete(notification_id);
      lane.more = true;
      wakeAt(lane, clock.now() + pauseMs);
    });
    attempts.add(work);
    void work.finally(() => attempts.delete(work));
  }

  async function attempt(
    lane: Lane,
    channel: Channel | null,
    entry: Waiting,
    release: () => void,
  ): Promise<void> {
    try {
      const notification = (await store.notifications([entry.notification_id])).get(entry.notification_id);
      // What was in hand may be older than what is stored.
      if (notification?.status !== 'pending' || (channel && Date.parse(notification.due_at) > clock.now())) {
        lane.unrecorded.delete(entry.notification_id);
        if (notification?.status === 'pending') putIn(lane, waitingOf(notification, entry.offset));
      } else {
        const command = await tried(channel, notification);
        // It counts as under way until its end is on the log: only what is under way is sent again after a crash.
        if (command) await recorded(command, notification.caller);
      }
    } finally {
      release();
      run(lane);
    }
  }

  /** @returns null when it was cut off by us: then nobody knows what came of it, and it is made again */
  async function tried(
    channel: Channel | null,
    notification: Notification,
  ): Promise<records.RecordAttempt | null> {
    const { ou_id, channel_id, notification_id } = notification;
    const at = new Date(clock.now());
    const result = await resultOf(channel, notification, at);
    if (cutOff.signal.aborted && result.outcome !== 'delivered') return null;
    return {
      ou_id,
      channel_id,
      notification_id,
      attempt: notification.attempts + 1,
      attempted_at: at.toISOString(),
      duration_ms: Math.max(0, clock.now() - at.getTime()),
      ...result,
    };
  }

  async function resultOf(
    channel: Channel | null,
    notification: Notification,
    at: Date,
  ): Promise<AttemptResult> {
    if (!channel) return { outcome: 'cancelled', detail: 'The channel was deleted.' };
    try {
      return await send(channel, notification, { at, signal: cutOff.signal });
    } catch (error) {
      const { notification_id } = notification;
      if (!cutOff.signal.aborted) logger.error({ err: error, notification_id }, 'sending has failed');
      return failed('internal', 'Something went wrong on our side.');
    }
  }

  /** Until the log has it. */
  async function recorded(command: records.RecordAttempt, caller: Caller | null): Promise<void> {
    const { notification_id } = command;
    while (!cutOff.signal.aborted) {
      try {
        await record(command, caller);
        return;
      } catch (error) {
        if (!isRetriable(error)) {
          // It stays unrecorded, and is sent again by whoever takes the partition over.
          logger.error({ err: error, notification_id }, 'an attempt cannot be recorded');
          return;
        }
        logger.warn({ err: error, notification_id }, 'an attempt cannot be recorded yet');
        await pause(pauseMs, cutOff.signal);
      }
    }
  }

  async function takeUpWhatWaits(): Promise<void> {
    while (!stopped) {
      try {
        for (const channel of await store.channelsThatWait()) {
          const lane = laneOf(channel);
          lane.more = true;
          run(lane);
        }
        return;
      } catch (error) {
        logger.warn({ err: error }, 'what is to be delivered cannot be looked up yet');
        await pause(pauseMs, cutOff.signal);
      }
    }
  }

  return {
    begin: () => {
      if (begun || stopped) return;
      begun = true;
      void takeUpWhatWaits();
    },
    folded: ({ notifications, attempted, forgotten, health }) => {
      // Before the beginning all of it is in the store.
      if (!begun || stopped) return;
      const touched = new Set<Lane>();
      for (const one of health) {
        const lane = lanes.get(one.channel_id);
        if (!lane) continue;
        lane.health = one;
        touched.add(lane);
      }
      for (const { notification, offset } of notifications) {
        const { notification_id, status } = notification;
        if (status !== 'pending' && !lanes.has(notification.channel_id)) continue;
        const lane = laneOf(notification);
        touched.add(lane);
        if (attempted.has(notification_id)) lane.unrecorded.delete(notification_id);
        takeOut(lane, notification_id);
        if (status === 'pending' && !lane.unrecorded.has(notification_id))
          putIn(lane, waitingOf(notification, offset));
      }
      for (const { notification_id, channel_id } of forgotten) {
        const lane = lanes.get(channel_id);
        if (!lane) continue;
        takeOut(lane, notification_id);
        // Of one that is under way, the record is still to come.
        if (attempted.has(notification_id)) lane.unrecorded.delete(notification_id);
        touched.add(lane);
      }
      for (const lane of touched) run(lane);
    },
    known: (channel, notificationId) => {
      const lane = lanes.get(channel.channel_id);
      if (!lane?.unrecorded.delete(notificationId)) return;
      lane.more = true;
      run(lane);
    },
    look: (channel) => {
      if (!begun || stopped) return;
      const lane = laneOf(channel);
      lane.lookAgain = true;
      lane.more = true;
      run(lane);
    },
    stop: async () => {
      stopped = true;
      for (const forget of alarms.values()) forget();
      alarms.clear();
      await Promise.race([Promise.all(attempts), pause(graceMs, cutOff.signal)]);
      cutOff.abort();
      await Promise.all(attempts);
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
