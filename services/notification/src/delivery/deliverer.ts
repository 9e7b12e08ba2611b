// Sends the pending notifications of a partition. Each channel has its own queue, with its own rate and retries, so that no channel
// waits for another channel's destination. The outcome of an attempt goes to the log as a command; until the event of that command
// is folded, the notification is not sent again.
import { pause, type Logger } from '@lead-scoring/service';
import type { Channel } from '../configuration/state.js';
import { Attempts, type AttemptDependencies } from './attempts.js';
import type { Clock } from './clock.js';
import {
  emptyQueue,
  firstDue,
  isIdle,
  isQueued,
  maximumQueued,
  nextDue,
  enqueue,
  dequeue,
  type ChannelQueue,
} from './channel-queue.js';
import { QueueScheduler } from './queue-scheduler.js';
import { emptyAt, nextSendAt, addOne, type ChannelLimits } from './limits.js';
import type { DeliveryPolicy } from './schedule-model.js';
import type { DestinationType } from './senders/sender.js';
import type { Slots } from './slots.js';
import type { ChannelHealth } from './state.js';
import type { DeliveryChanges, DeliveryStore } from './store.js';
import { waitingOf, type WaitingNotification } from './waiting-notification.js';

export interface DelivererDependencies extends AttemptDependencies {
  store: Pick<DeliveryStore, 'notifications' | 'health' | 'channelsThatWait' | 'waitingFor'>;
  /** The channel as published; null when it was deleted. */
  channelOf: (ouId: string, channelId: string) => Promise<Channel | null>;
  /** All partitions of the process share them. */
  slots: Slots;
}

export interface DelivererConfiguration {
  policy: Pick<DeliveryPolicy, 'probeEveryMs'>;
  limits: Readonly<Record<DestinationType, ChannelLimits>>;
}

type ChannelIdentity = Pick<ChannelHealth, 'ou_id' | 'channel_id'>;

/** Maximum number of a channel's attempts that are under way or whose event is not folded yet. */
const maximumUnrecorded = 64;
/** Number of queued notifications below which a queue reads more from the store. */
const refillBelow = 100;
/** Number of consecutive failures after which a destination is ailing: it gets one attempt at a time. */
const failuresUntilAiling = 10;
/** Delay before a failed look-up or write of this service is repeated. */
const retryAfterMs = 1_000;
/** Time in which attempts under way may end when the deliverer stops; then they are cut off. */
const graceMs = 3_000;

export class Deliverer {
  readonly #queues = new Map<string, ChannelQueue>();
  readonly #scheduler: QueueScheduler;
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
    this.#scheduler = new QueueScheduler((queue) => this.#serve(queue), this.#clock, this.#logger);
    this.#attempts = new Attempts(dependencies);
  }

  /** Starts to send the stored pending notifications, and from then on those that `folded` brings. */
  begin(): void {
    if (this.#hasBegun || this.#isStopped) return;
    this.#hasBegun = true;
    this.#scheduler.begin();
    void this.#takeUpWaiting();
  }

  async #takeUpWaiting(): Promise<void> {
    while (!this.#isStopped) {
      try {
        for (const channel of await this.dependencies.store.channelsThatWait()) {
          const queue = this.#queueOf(channel);
          queue.hasMore = true;
          this.#scheduler.run(queue);
        }
        return;
      } catch (error) {
        this.#logger.warn(
          { err: error },
          'the channels with pending notifications cannot be read yet; the read is repeated',
        );
        await pause(retryAfterMs, this.#attempts.signal);
      }
    }
  }

  /** Takes over the changes of a fold. */
  folded(changes: DeliveryChanges): void {
    // Before `begin` has read the store, the changes are read from there.
    if (!this.#hasBegun || this.#isStopped) return;
    const touched = new Set<ChannelQueue>();
    this.#takeHealth(changes, touched);
    this.#takeNotifications(changes, touched);
    this.#takeForgotten(changes, touched);
    for (const queue of touched) this.#scheduler.run(queue);
  }

  #takeHealth({ health }: DeliveryChanges, touched: Set<ChannelQueue>): void {
    for (const one of health) {
      const queue = this.#queues.get(one.channel_id);
      if (!queue) continue;
      queue.health = one;
      touched.add(queue);
    }
  }

  #takeNotifications({ notifications, attempted }: DeliveryChanges, touched: Set<ChannelQueue>): void {
    for (const { notification, offset, traceparent } of notifications) {
      const { notification_id, status } = notification;
      if (status !== 'pending' && !this.#queues.has(notification.channel_id)) continue;
      const queue = this.#queueOf(notification);
      touched.add(queue);
      if (attempted.has(notification_id)) queue.unrecorded.delete(notification_id);
      dequeue(queue, notification_id);
      if (status === 'pending' && !queue.unrecorded.has(notification_id))
        enqueue(queue, waitingOf(notification, offset, traceparent));
    }
  }

  #takeForgotten({ forgotten, attempted }: DeliveryChanges, touched: Set<ChannelQueue>): void {
    for (const { notification_id, channel_id } of forgotten) {
      const queue = this.#queues.get(channel_id);
      if (!queue) continue;
      dequeue(queue, notification_id);
      // An attempt under way stays unrecorded until its event is folded.
      if (attempted.has(notification_id)) queue.unrecorded.delete(notification_id);
      touched.add(queue);
    }
  }

  /** The command of an attempt changed nothing, so no event of it will be folded: the attempt is settled. */
  known({ channel_id }: ChannelIdentity, notificationId: string): void {
    const queue = this.#queues.get(channel_id);
    if (!queue?.unrecorded.delete(notificationId)) return;
    queue.hasMore = true;
    this.#scheduler.run(queue);
  }

  /** Reads the channel and its pending notifications again, for example after the channel was replaced. */
  look(channel: ChannelIdentity): void {
    if (!this.#hasBegun || this.#isStopped) return;
    const queue = this.#queueOf(channel);
    queue.mustReloadChannel = true;
    queue.hasMore = true;
    this.#scheduler.run(queue);
  }

  /** Starts no more attempts, and resolves when none is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#scheduler.stop();
    await Promise.race([Promise.all(this.#underWay), pause(graceMs, this.#attempts.signal)]);
    this.#attempts.cutOff();
    await Promise.all(this.#underWay);
  }

  #queueOf({ channel_id, ou_id }: ChannelIdentity): ChannelQueue {
    let queue = this.#queues.get(channel_id);
    if (!queue) this.#queues.set(channel_id, (queue = emptyQueue(channel_id, ou_id)));
    return queue;
  }

  /** Starts the attempts that can start now, and schedules the queue for the next ones. */
  async #serve(queue: ChannelQueue): Promise<void> {
    await this.#bringUpToDate(queue);
    if (isIdle(queue)) {
      this.#retire(queue);
      return;
    }
    const now = this.#clock.now();
    if (queue.tests.length === 0 && !queue.mustReloadChannel && !firstDue(queue, now)) {
      this.#wakeForNext(queue, now, now);
      return;
    }
    const channel = await this.dependencies.channelOf(queue.ou_id, queue.channel_id);
    queue.mustReloadChannel = false;
    if (this.#isStopped) return;
    if (!channel) {
      this.#cancel(queue);
      return;
    }
    for (const test of [...queue.tests]) {
      queue.bucket = addOne(queue.bucket, this.#limitsOf(channel), now);
      this.#start(queue, channel, test, () => undefined);
    }
    const moment = this.#startDue(queue, channel, this.#clock.now());
    if (moment !== null) this.#wakeForNext(queue, this.#clock.now(), moment);
  }

  /** Reads the channel's health, and more notifications where the queue is short. */
  async #bringUpToDate(queue: ChannelQueue): Promise<void> {
    if (queue.hasMore && queue.entries.length < refillBelow) await this.#refill(queue);
    if (queue.health !== undefined) return;
    const { channel_id } = queue;
    const loaded = (await this.dependencies.store.health([channel_id])).get(channel_id) ?? null;
    // A health that was folded during the read is newer.
    queue.health ??= loaded;
  }

  async #refill(queue: ChannelQueue): Promise<void> {
    const limit = maximumQueued + queue.unrecorded.size;
    // A notification that is folded during the read may be missing in the answer: `hasMore` is false, so the fold queues it.
    // An attempt that ends during the read may still be pending in the answer: the attempts under way now are left out.
    queue.hasMore = false;
    const underWay = new Set(queue.unrecorded);
    const found = await this.dependencies.store
      .waitingFor(queue.channel_id, limit)
      .catch((error: unknown) => {
        queue.hasMore = true;
        throw error;
      });
    for (const waiting of found)
      if (
        !underWay.has(waiting.notification_id) &&
        !queue.unrecorded.has(waiting.notification_id) &&
        !isQueued(queue, waiting.notification_id)
      )
        enqueue(queue, waiting);
    if (found.length === limit) queue.hasMore = true;
  }

  #limitsOf({ destination }: Channel): ChannelLimits {
    return this.configuration.limits[destination.type];
  }

  /**
   * Starts the due notifications within the channel's limits.
   * @returns the moment at which more may start; null when an attempt under way, or a free slot, runs the queue again
   */
  #startDue(queue: ChannelQueue, channel: Channel, now: number): number | null {
    const limits = this.#limitsOf(channel);
    const health = queue.health ?? null;
    const paused = health?.paused ?? null;
    const isAiling = (health?.failures ?? 0) >= failuresUntilAiling;
    for (;;) {
      if (paused) {
        const probe = this.#probeAt(health, paused);
        if (probe === null || queue.unrecorded.size > 0) return null;
        if (probe > now) return probe;
      }
      if (queue.unrecorded.size >= maximumUnrecorded) return null;
      if (queue.inFlight >= (isAiling || paused ? 1 : limits.concurrency)) return null;
      const entry = firstDue(queue, now);
      if (!entry) return now;
      const may = nextSendAt(queue.bucket, limits, now);
      if (may > now) return may;
      const giveBack = this.dependencies.slots.take(isAiling);
      if (!giveBack) {
        this.#waitForSlot(queue, isAiling, now);
        return null;
      }
      queue.bucket = addOne(queue.bucket, limits, now);
      this.#startInFlight(queue, channel, entry, giveBack);
    }
  }

  /** Waits for a free slot. Another queue may be woken and not use the slot, so this queue also tries again after a delay. */
  #waitForSlot(queue: ChannelQueue, isAiling: boolean, now: number): void {
    const forget = this.dependencies.slots.whenFree(isAiling, () => {
      this.#scheduler.run(queue);
    });
    this.#scheduler.wakeAt(queue, now + retryAfterMs, forget);
  }

  /** The moment of the next probe of a paused channel; null for a channel that answered 410 Gone, which is not probed. */
  #probeAt(health: ChannelHealth | null, paused: { reason: string; at: string }): number | null {
    if (paused.reason === 'gone') return null;
    const last = Math.max(Date.parse(paused.at), Date.parse(health?.last_attempt_at ?? paused.at));
    return last + this.configuration.policy.probeEveryMs;
  }

  /** @param atLeast the earliest moment at which an attempt may start */
  #wakeForNext(queue: ChannelQueue, now: number, atLeast: number): void {
    if (atLeast > now) this.#scheduler.wakeAt(queue, atLeast);
    else {
      const next = nextDue(queue, now);
      if (next !== null) this.#scheduler.wakeAt(queue, next);
    }
  }

  /** Drops an idle queue, once its rate limit has recovered. */
  #retire(queue: ChannelQueue): void {
    const { limits } = this.configuration;
    const slowest = Math.max(...Object.values(limits).map((of) => emptyAt(queue.bucket, of)));
    if (slowest > this.#clock.now()) this.#scheduler.wakeAt(queue, slowest);
    else this.#queues.delete(queue.channel_id);
  }

  /** Records the pending notifications of a deleted channel as cancelled. */
  #cancel(queue: ChannelQueue): void {
    const room = Math.max(0, maximumUnrecorded - queue.unrecorded.size);
    for (const entry of [...queue.tests, ...queue.entries].slice(0, room))
      this.#start(queue, null, entry, () => undefined);
  }

  /** Starts an attempt that counts towards the channel's concurrency and blocks its lead or account until it ends. */
  #startInFlight(
    queue: ChannelQueue,
    channel: Channel,
    entry: WaitingNotification,
    giveBack: () => void,
  ): void {
    queue.inFlight += 1;
    if (entry.subject_id !== null) queue.busySubjects.add(entry.subject_id);
    this.#start(queue, channel, entry, () => {
      giveBack();
      queue.inFlight -= 1;
      if (entry.subject_id !== null) queue.busySubjects.delete(entry.subject_id);
    });
  }

  #start(
    queue: ChannelQueue,
    channel: Channel | null,
    entry: WaitingNotification,
    release: () => void,
  ): void {
    const { notification_id } = entry;
    dequeue(queue, notification_id);
    queue.unrecorded.add(notification_id);
    const work = this.#attempt(queue, channel, entry, release).catch((error: unknown) => {
      this.#logger.warn(
        { err: error, notification_id },
        'a notification cannot be read yet; the attempt is repeated',
      );
      queue.unrecorded.delete(notification_id);
      queue.hasMore = true;
      this.#scheduler.wakeAt(queue, this.#clock.now() + retryAfterMs);
    });
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }

  async #attempt(
    queue: ChannelQueue,
    channel: Channel | null,
    { notification_id, offset, traceparent }: WaitingNotification,
    release: () => void,
  ): Promise<void> {
    try {
      const notification = (await this.dependencies.store.notifications([notification_id])).get(
        notification_id,
      );
      // The queue's copy may be older than the stored notification.
      const isPending = notification?.status === 'pending';
      if (isPending && (!channel || Date.parse(notification.due_at) <= this.#clock.now())) {
        await this.#attempts.make(channel, notification, traceparent);
        return;
      }
      queue.unrecorded.delete(notification_id);
      if (isPending) enqueue(queue, waitingOf(notification, offset, traceparent));
    } finally {
      release();
      this.#scheduler.run(queue);
    }
  }
}
