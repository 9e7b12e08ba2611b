// The notifications and channels of one partition: folds their events in memory, and writes what is folded beside the batches
// that follow.
import type { ReadModel } from '@lead-scoring/read-model';
import { ChannelHealthStore } from './channel-health-store.js';
import { DeliveryFold, type RecordedDelivery } from './delivery-fold.js';
import {
  countRequestedWithin,
  findPendingChannels,
  findRequestedWithin,
  findWaiting,
  type RequestedStep,
  type RequestedWithin,
} from './delivery-look-up.js';
import { deleteForgotten } from './forgetting.js';
import { notificationsIn } from './messages.js';
import { NotificationStore } from './notification-store.js';
import type { ChannelHealth, FoldedState, Notification } from './state.js';
import type { WaitingNotification } from './waiting-notification.js';

/** What a fold has changed. */
export interface DeliveryChanges {
  /** As they are afterwards. */
  notifications: { notification: Notification; offset: number }[];
  /** Ids of notifications of which an attempt was folded. */
  attempted: ReadonlySet<string>;
  forgotten: { notification_id: string; channel_id: string }[];
  health: ChannelHealth[];
}

/** With more unwritten notifications, a fold waits for the write under way. */
const maximumUnwritten = 2_000;

export class DeliveryStore {
  readonly #notifications: NotificationStore;
  readonly #health: ChannelHealthStore;
  /** Rejects after a failed write, and so does every later write: without the failed documents the rest would have gaps. */
  #writing: Promise<void> = Promise.resolve();
  /** A write is asked for and has not begun: whatever is folded until then is in it. */
  #isWriteDue = false;
  #hasFailed = false;

  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
    options: { cachedNotifications: number },
  ) {
    this.#notifications = new NotificationStore(readModel, partition, options);
    this.#health = new ChannelHealthStore(readModel, partition);
  }

  async notifications(ids: Iterable<string>): Promise<Map<string, Notification | null>> {
    return valuesOf(await this.#notifications.load(ids));
  }

  async health(channelIds: Iterable<string>): Promise<Map<string, ChannelHealth | null>> {
    return valuesOf(await this.#health.load(channelIds));
  }

  /**
   * What is folded counts at once, before it is written. A write that fails rejects the next fold, and everybody who waits
   * for it.
   */
  async fold(recorded: readonly RecordedDelivery[]): Promise<DeliveryChanges> {
    if (this.#hasFailed || this.#notifications.unwrittenCount > maximumUnwritten) await this.#writing;
    const events = recorded.map(({ event }) => event);
    const [notificationsBefore, healthBefore] = await Promise.all([
      this.#notifications.load(new Set(events.flatMap(notificationsIn))),
      this.#health.load(new Set(events.map(({ payload }) => payload.channel_id))),
    ]);
    const fold = new DeliveryFold(notificationsBefore, healthBefore);
    for (const one of recorded) fold.fold(one);
    const { notifications, attempts, health } = fold;
    for (const event of attempts)
      if (!fold.forgotten.has(event.notification_id)) this.#notifications.putAttempt(event);
    for (const one of notifications)
      this.#notifications.put(one, { isAbsent: !notificationsBefore.get(one.value.notification_id) });
    for (const one of health) this.#health.put(one);
    this.#startWrite();
    const forgotten = fold.ends.length > 0 ? await this.#forget(fold) : fold.forgotten;
    return {
      notifications: notifications.map(({ value, offset }) => ({ notification: value, offset })),
      attempted: new Set(attempts.map(({ notification_id }) => notification_id)),
      forgotten: [...forgotten].map(([notification_id, { channel_id }]) => ({ notification_id, channel_id })),
      health: health.map(({ value }) => value),
    };
  }

  async #forget({ ends, forgotten }: DeliveryFold): Promise<DeliveryFold['forgotten']> {
    await this.#writing;
    const deleted = await deleteForgotten(this.readModel, this.partition, ends, forgotten);
    this.#notifications.remove(deleted.keys());
    return deleted;
  }

  #startWrite(): void {
    if (this.#isWriteDue) return;
    this.#isWriteDue = true;
    this.#writing = this.#writing.then(() => this.#write());
    this.#writing.catch(() => {
      this.#hasFailed = true;
    });
  }

  async #write(): Promise<void> {
    this.#isWriteDue = false;
    const notifications = this.#notifications.beginWrite();
    const healths = this.#health.beginWrite();
    await this.#notifications.write(notifications);
    await this.#health.write(healths);
    this.#notifications.endWrite();
    this.#health.endWrite();
  }

  /** Resolves when all that is folded as of this call is written. */
  written(): Promise<void> {
    return this.#writing;
  }

  /** Notifications of any partition, as they are stored; nothing is decided with them. */
  async find(ids: Iterable<string>): Promise<Map<string, Notification>> {
    await this.#writing;
    return this.#notifications.find(ids);
  }

  /** Channels for which something waits. */
  async channelsThatWait(): Promise<{ channel_id: string; ou_id: string }[]> {
    await this.#writing;
    return findPendingChannels(this.readModel, this.partition);
  }

  /** Notifications that wait for a channel, the first due first. */
  async waitingFor(channelId: string, limit: number): Promise<WaitingNotification[]> {
    await this.#writing;
    return findWaiting(this.readModel, { partition: this.partition, channelId, limit });
  }

  /** A channel's notifications that were requested within a time, oldest first. */
  async requestedWithin(step: RequestedStep): Promise<Notification[]> {
    await this.#writing;
    return findRequestedWithin(this.readModel, step);
  }

  async countRequestedWithin(range: RequestedWithin): Promise<number> {
    await this.#writing;
    return countRequestedWithin(this.readModel, range);
  }
}

function valuesOf<Value extends object>(
  states: ReadonlyMap<string, FoldedState<Value> | null>,
): Map<string, Value | null> {
  return new Map([...states].map(([id, one]) => [id, one?.value ?? null]));
}
