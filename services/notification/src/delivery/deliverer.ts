// Sends what waits in a partition, each channel in its own lane: a lane waits for its own destination, its own rate and its
// own retries, never for another's. The end of an attempt goes to the log as a command, and the notification is not sent again
// until that command is folded.
import { pause, type Logger } from '@lead-scoring/service';
import type { Channel } from '../configuration/state.js';
import { Attempts, type AttemptDependencies } from './attempts.js';
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
import { LaneTurns } from './lane-turns.js';
import { forgottenAt, mayNextAt, spendOne, type ChannelLimits } from './limits.js';
import type { DeliveryPolicy } from './schedule-model.js';
import type { DestinationType } from './senders/sender.js';
import type { Slots } from './slots.js';
import type { ChannelHealth } from './state.js';
import type { DeliveryChanges, DeliveryStore } from './store.js';
import { waitingOf, type WaitingNotification } from './waiting-notification.js';

export interface DelivererDependencies extends AttemptDependencies {
  store: Pick<DeliveryStore, 'notifications' | 'health' | 'channelsThatWait' | 'waitingFor'>;
  /** As configured now; null when it was deleted. */
  channelOf: (ouId: string, channelId: string) => Promise<Channel | null>;
  /** Shared by the partitions of a process. */
  slots: Slots;
}

export interface DelivererConfiguration {
  policy: Pick<DeliveryPolicy, 'probeEveryMs'>;
  limits: Readonly<Record<DestinationType, ChannelLimits>>;
}

type ChannelName = Pick<ChannelHealth, 'ou_id' | 'channel_id'>;

/** Attempts of a channel that may wait until their record is folded. */
const maximumUnrecorded = 64;
/** With fewer notifications in hand, a lane looks for more. */
const refillBelow = 100;
/** After so many failures in a row a destination gets one attempt at a time. */
const failuresUntilAiling = 10;
/** Until something that failed for another reason than its destination is tried again. */
const retryAfterMs = 1_000;
/** Attempts under way when the partition goes away may end by themselves for this long. */
const graceMs = 3_000;

export class Deliverer {
  readonly #lanes = new Map<string, Lane>();
  readonly #turns: LaneTurns;
  readonly #attempts: Attempts;
  readonly #underWay = new Set<Promise<void>>();
  readonly #clock: Clock;
  readonly #logger: Logger;
  #hasBegun = false;
  #isStopped = false;

  constructor(
    private readonly dependencies: DelivererDependencies,
    private readonly configuration: DelivererConfiguration,
  ) {
    this.#clock = dependencies.clock;
    this.#logger = dependencies.logger;
    this.#turns = new LaneTurns((lane) => this.#turn(lane), this.#clock, this.#logger);
    this.#attempts = new Attempts(dependencies);
  }

  /** Begins to send: what waits, and from then on what is folded. */
  begin(): void {
    if (this.#hasBegun || this.#isStopped) return;
    this.#hasBegun = true;
    this.#turns.begin();
    void this.#takeUpWaiting();
  }

  async #takeUpWaiting(): Promise<void> {
    while (!this.#isStopped) {
      try {
        for (const channel of await this.dependencies.store.channelsThatWait()) {
          const lane = this.#laneOf(channel);
          lane.more = true;
          this.#turns.run(lane);
        }
        return;
      } catch (error) {
        this.#logger.warn({ err: error }, 'what is to be delivered cannot be looked up yet');
        await pause(retryAfterMs, this.#attempts.signal);
      }
    }
  }

  /** What has changed in the store. */
  folded(changes: DeliveryChanges): void {
    // Before the beginning all of it is in the store.
    if (!this.#hasBegun || this.#isStopped) return;
    const touched = new Set<Lane>();
    this.#takeHealth(changes, touched);
    this.#takeNotifications(changes, touched);
    this.#takeForgotten(changes, touched);
    for (const lane of touched) this.#turns.run(lane);
  }

  #takeHealth({ health }: DeliveryChanges, touched: Set<Lane>): void {
    for (const one of health) {
      const lane = this.#lanes.get(one.channel_id);
      if (!lane) continue;
      lane.health = one;
      touched.add(lane);
    }
  }

  #takeNotifications({ notifications, attempted }: DeliveryChanges, touched: Set<Lane>): void {
    for (const { notification, offset } of notifications) {
      const { notification_id, status } = notification;
      if (status !== 'pending' && !this.#lanes.has(notification.channel_id)) continue;
      const lane = this.#laneOf(notification);
      touched.add(lane);
      if (attempted.has(notification_id)) lane.unrecorded.delete(notification_id);
      takeOut(lane, notification_id);
      if (status === 'pending' && !lane.unrecorded.has(notification_id))
        putIn(lane, waitingOf(notification, offset));
    }
  }

  #takeForgotten({ forgotten, attempted }: DeliveryChanges, touched: Set<Lane>): void {
    for (const { notification_id, channel_id } of forgotten) {
      const lane = this.#lanes.get(channel_id);
      if (!lane) continue;
      takeOut(lane, notification_id);
      // Of one that is under way, the record is still to come.
      if (attempted.has(notification_id)) lane.unrecorded.delete(notification_id);
      touched.add(lane);
    }
  }

  /** The record of this attempt has changed nothing: it was known already. */
  known({ channel_id }: ChannelName, notificationId: string): void {
    const lane = this.#lanes.get(channel_id);
    if (!lane?.unrecorded.delete(notificationId)) return;
    lane.more = true;
    this.#turns.run(lane);
  }

  /** Something about this channel has changed besides what is folded here. */
  look(channel: ChannelName): void {
    if (!this.#hasBegun || this.#isStopped) return;
    const lane = this.#laneOf(channel);
    lane.lookAgain = true;
    lane.more = true;
    this.#turns.run(lane);
  }

  /** Begins nothing more, and resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#turns.stop();
    await Promise.race([Promise.all(this.#underWay), pause(graceMs, this.#attempts.signal)]);
    this.#attempts.cutOff();
    await Promise.all(this.#underWay);
  }

  #laneOf({ channel_id, ou_id }: ChannelName): Lane {
    let lane = this.#lanes.get(channel_id);
    if (!lane) this.#lanes.set(channel_id, (lane = emptyLane(channel_id, ou_id)));
    return lane;
  }

  /** Starts what can be started now, and sees to it that the lane has another turn when more can be. */
  async #turn(lane: Lane): Promise<void> {
    await this.#bringUpToDate(lane);
    if (isIdle(lane)) {
      this.#retire(lane);
      return;
    }
    const now = this.#clock.now();
    if (lane.tests.length === 0 && !lane.lookAgain && !firstDue(lane, now)) {
      this.#wakeForNext(lane, now, now);
      return;
    }
    const channel = await this.dependencies.channelOf(lane.ou_id, lane.channel_id);
    lane.lookAgain = false;
    if (this.#isStopped) return;
    if (!channel) {
      this.#cancel(lane);
      return;
    }
    for (const test of [...lane.tests]) {
      lane.spent = spendOne(lane.spent, this.#limitsOf(channel), now);
      this.#start(lane, channel, test, () => undefined);
    }
    const moment = this.#startDue(lane, channel, this.#clock.now());
    if (moment !== null) this.#wakeForNext(lane, this.#clock.now(), moment);
  }

  /** Brings the lane up to what is stored. */
  async #bringUpToDate(lane: Lane): Promise<void> {
    if (lane.more && lane.entries.length < refillBelow) await this.#refill(lane);
    if (lane.health !== undefined) return;
    const { channel_id } = lane;
    const loaded = (await this.dependencies.store.health([channel_id])).get(channel_id) ?? null;
    // What was folded meanwhile is newer.
    lane.health ??= loaded;
  }

  async #refill(lane: Lane): Promise<void> {
    const limit = maximumInHand + lane.unrecorded.size;
    // What is folded from here on may not be in the answer, so nothing of it is left to the store; and what ends from
    // here on may still be in it, as if it waited.
    lane.more = false;
    const underWay = new Set(lane.unrecorded);
    const found = await this.dependencies.store.waitingFor(lane.channel_id, limit).catch((error: unknown) => {
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

  #limitsOf({ destination }: Channel): ChannelLimits {
    return this.configuration.limits[destination.type];
  }

  /**
   * Starts what is due, as far as the channel may have it.
   * @returns the moment at which to look again; null when something under way will see to it
   */
  #startDue(lane: Lane, channel: Channel, now: number): number | null {
    const limits = this.#limitsOf(channel);
    const health = lane.health ?? null;
    const paused = health?.paused ?? null;
    const isAiling = (health?.failures ?? 0) >= failuresUntilAiling;
    for (;;) {
      if (paused) {
        const probe = this.#probeAt(health, paused);
        if (probe === null || lane.unrecorded.size > 0) return null;
        if (probe > now) return probe;
      }
      if (lane.unrecorded.size >= maximumUnrecorded) return null;
      if (lane.inFlight >= (isAiling || paused ? 1 : limits.concurrency)) return null;
      const entry = firstDue(lane, now);
      if (!entry) return now;
      const may = mayNextAt(lane.spent, limits, now);
      if (may > now) return may;
      const giveBack = this.dependencies.slots.take(isAiling);
      if (!giveBack) {
        this.#waitForSlot(lane, isAiling, now);
        return null;
      }
      lane.spent = spendOne(lane.spent, limits, now);
      this.#startInFlight(lane, channel, entry, giveBack);
    }
  }

  /** Whoever gets a free slot may have no use for it any more, so it is looked for after a while as well. */
  #waitForSlot(lane: Lane, isAiling: boolean, now: number): void {
    const forget = this.dependencies.slots.whenFree(isAiling, () => {
      this.#turns.run(lane);
    });
    this.#turns.wakeAt(lane, now + retryAfterMs, forget);
  }

  /** When a paused channel is tried; one that wants nothing more is not. */
  #probeAt(health: ChannelHealth | null, paused: { reason: string; at: string }): number | null {
    if (paused.reason === 'gone') return null;
    const last = Math.max(Date.parse(paused.at), Date.parse(health?.last_attempt_at ?? paused.at));
    return last + this.configuration.policy.probeEveryMs;
  }

  /** @param atLeast nothing can be started before this moment */
  #wakeForNext(lane: Lane, now: number, atLeast: number): void {
    if (atLeast > now) this.#turns.wakeAt(lane, atLeast);
    else {
      const next = nextDue(lane, now);
      if (next !== null) this.#turns.wakeAt(lane, next);
    }
  }

  /** A lane is let go when what it has sent counts no more. */
  #retire(lane: Lane): void {
    const { limits } = this.configuration;
    const slowest = Math.max(...Object.values(limits).map((of) => forgottenAt(lane.spent, of)));
    if (slowest > this.#clock.now()) this.#turns.wakeAt(lane, slowest);
    else this.#lanes.delete(lane.channel_id);
  }

  /** The channel was deleted: what waits for it is recorded as cancelled. */
  #cancel(lane: Lane): void {
    const room = Math.max(0, maximumUnrecorded - lane.unrecorded.size);
    for (const entry of [...lane.tests, ...lane.entries].slice(0, room))
      this.#start(lane, null, entry, () => undefined);
  }

  /** Counts the attempt among those of its channel, and of its lead, until it ends. */
  #startInFlight(lane: Lane, channel: Channel, entry: WaitingNotification, giveBack: () => void): void {
    lane.inFlight += 1;
    if (entry.lead_id !== null) lane.leads.add(entry.lead_id);
    this.#start(lane, channel, entry, () => {
      giveBack();
      lane.inFlight -= 1;
      if (entry.lead_id !== null) lane.leads.delete(entry.lead_id);
    });
  }

  #start(lane: Lane, channel: Channel | null, entry: WaitingNotification, release: () => void): void {
    const { notification_id } = entry;
    takeOut(lane, notification_id);
    lane.unrecorded.add(notification_id);
    const work = this.#attempt(lane, channel, entry, release).catch((error: unknown) => {
      this.#logger.warn({ err: error, notification_id }, 'a notification cannot be looked after yet');
      lane.unrecorded.delete(notification_id);
      lane.more = true;
      this.#turns.wakeAt(lane, this.#clock.now() + retryAfterMs);
    });
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #attempt(
    lane: Lane,
    channel: Channel | null,
    { notification_id, offset }: WaitingNotification,
    release: () => void,
  ): Promise<void> {
    try {
      const notification = (await this.dependencies.store.notifications([notification_id])).get(
        notification_id,
      );
      // What was in hand may be older than what is stored.
      const isPending = notification?.status === 'pending';
      if (isPending && (!channel || Date.parse(notification.due_at) <= this.#clock.now())) {
        await this.#attempts.make(channel, notification);
        return;
      }
      lane.unrecorded.delete(notification_id);
      if (isPending) putIn(lane, waitingOf(notification, offset));
    } finally {
      release();
      this.#turns.run(lane);
    }
  }
}
