// The stored notifications and channels of one partition: folds events in memory, and writes the documents behind.
import {
  binaryToUuid,
  BufferedInserts,
  BufferedStates,
  findByIds,
  uuidToBinary,
  WriteBehind,
  type ReadModel,
} from '@lead-scoring/read-model';
import { DeliveryFold, type RecordedDelivery } from './delivery-fold.js';
import {
  countRequestedWithin,
  findPendingChannels,
  findRequestedWithin,
  findWaiting,
  type RequestStep,
  type RequestRange,
} from './delivery-look-up.js';
import {
  channelHealth,
  deliveries,
  deliveryAttempts,
  toAttemptDocument,
  toDeliveryDocument,
  toHealth,
  toHealthDocument,
  toNotification,
  type AttemptDocument,
  type DeliveryDocument,
  type HealthDocument,
} from './documents.js';
import { deleteForgotten } from './forgetting.js';
import { notificationsIn } from './messages.js';
import { PendingBuffer } from './pending-buffer.js';
import type { ChannelHealth, FoldedState, Notification } from './state.js';
import type { WaitingNotification } from './waiting-notification.js';

/** The changes of one fold. */
export interface DeliveryChanges {
  /** The changed notifications after the fold. */
  notifications: { notification: Notification; offset: number; traceparent?: string | undefined }[];
  /** Ids of notifications with a folded attempt. */
  attempted: ReadonlySet<string>;
  forgotten: { notification_id: string; channel_id: string }[];
  health: ChannelHealth[];
}

/** Number of unwritten changes above which a fold waits; a notification has at most three. */
const maximumUnwritten = 6_000;
/** Maximum number of channels whose health stays in memory. */
const maximumChannels = 10_000;

export class DeliveryStore {
  readonly #notifications: BufferedStates<FoldedState<Notification>, DeliveryDocument>;
  readonly #health: BufferedStates<FoldedState<ChannelHealth>, HealthDocument>;
  readonly #attempts: BufferedInserts<AttemptDocument>;
  readonly #pending: PendingBuffer;
  readonly #behind: WriteBehind;

  constructor(
    private readonly readModel: ReadModel,
    private readonly partition: number,
    { cachedNotifications }: { cachedNotifications: number },
  ) {
    this.#notifications = new BufferedStates(readModel, {
      collection: deliveries,
      idOf: uuidToBinary,
      toState: (document) => ({ value: toNotification(document), offset: document.offset }),
      toDocument: ({ value, offset }) => toDeliveryDocument(value, { partition, offset }),
      maximumCached: cachedNotifications,
    });
    this.#health = new BufferedStates(readModel, {
      collection: channelHealth,
      idOf: uuidToBinary,
      toState: (document) => ({ value: toHealth(document), offset: document.offset }),
      toDocument: ({ value, offset }) => toHealthDocument(value, { partition, offset }),
      maximumCached: maximumChannels,
    });
    this.#attempts = new BufferedInserts(readModel, deliveryAttempts);
    this.#pending = new PendingBuffer(readModel, partition);
    this.#behind = new WriteBehind([this.#attempts, this.#notifications, this.#pending, this.#health], {
      maximumUnwritten,
    });
  }

  async notifications(ids: Iterable<string>): Promise<Map<string, Notification | null>> {
    return valuesOf(await this.#notifications.load(ids));
  }

  async health(channelIds: Iterable<string>): Promise<Map<string, ChannelHealth | null>> {
    return valuesOf(await this.#health.load(channelIds));
  }

  /**
   * Folds events; decisions see them at once, before they are written. A failed write rejects the next fold and every waiting
   * call of `written`.
   */
  async fold(recorded: readonly RecordedDelivery[]): Promise<DeliveryChanges> {
    await this.#behind.room();
    const events = recorded.map(({ event }) => event);
    const [notificationsBefore, healthBefore] = await Promise.all([
      this.#notifications.load(new Set(events.flatMap(notificationsIn))),
      this.#health.load(new Set(events.map(({ payload }) => payload.channel_id))),
    ]);
    const fold = new DeliveryFold(notificationsBefore, healthBefore);
    for (const one of recorded) fold.fold(one);
    const { notifications, attempts, health } = fold;
    for (const event of attempts)
      if (!fold.forgotten.has(event.notification_id))
        this.#attempts.put(toAttemptDocument(event, this.partition));
    for (const one of notifications) {
      const { notification_id } = one.value;
      this.#notifications.put(notification_id, one);
      this.#pending.put(one, { isNew: !notificationsBefore.get(notification_id) });
    }
    for (const one of health) this.#health.put(one.value.channel_id, one);
    void this.#behind.write();
    const traces = tracesOf(recorded);
    const forgotten = fold.ends.length > 0 ? await this.#forget(fold) : fold.forgotten;
    return {
      notifications: notifications.map(({ value, offset }) => ({
        notification: value,
        offset,
        traceparent: traces.get(value.notification_id),
      })),
      attempted: new Set(attempts.map(({ notification_id }) => notification_id)),
      forgotten: [...forgotten].map(([notification_id, { channel_id }]) => ({ notification_id, channel_id })),
      health: health.map(({ value }) => value),
    };
  }

  async #forget({ ends, forgotten }: DeliveryFold): Promise<DeliveryFold['forgotten']> {
    await this.#behind.written();
    const deleted = await deleteForgotten(this.readModel, this.partition, ends, forgotten);
    for (const id of deleted.keys()) this.#notifications.deleted(id);
    return deleted;
  }

  /** Resolves when everything folded before this call is written. */
  written(): Promise<void> {
    return this.#behind.written();
  }

  /** Stored notifications of any partition. They may be stale: no decision is based on them. */
  async find(ids: Iterable<string>): Promise<Map<string, Notification>> {
    await this.written();
    const found = await findByIds(this.readModel.collection(deliveries), [...ids].map(uuidToBinary));
    return new Map(found.map((document) => [binaryToUuid(document._id), toNotification(document)]));
  }

  /** The channels with pending notifications. */
  async channelsThatWait(): Promise<{ channel_id: string; ou_id: string }[]> {
    await this.written();
    return findPendingChannels(this.readModel, this.partition);
  }

  /** The pending notifications of a channel, by due time. */
  async waitingFor(channelId: string, limit: number): Promise<WaitingNotification[]> {
    await this.written();
    return findWaiting(this.readModel, { partition: this.partition, channelId, limit });
  }

  /** One page of a channel's notifications that were requested within a range of time, oldest first. */
  async requestedWithin(step: RequestStep): Promise<Notification[]> {
    await this.written();
    return findRequestedWithin(this.readModel, step);
  }

  async countRequestedWithin(range: RequestRange): Promise<number> {
    await this.written();
    return countRequestedWithin(this.readModel, range);
  }
}

/** The trace of each notification's last record that has one, by id. */
function tracesOf(recorded: readonly RecordedDelivery[]): Map<string, string> {
  return new Map(
    recorded.flatMap(({ event, traceparent }) =>
      traceparent === undefined
        ? []
        : notificationsIn(event).map((id): [string, string] => [id, traceparent]),
    ),
  );
}

function valuesOf<Value extends object>(
  states: ReadonlyMap<string, FoldedState<Value> | null>,
): Map<string, Value | null> {
  return new Map([...states].map(([id, one]) => [id, one?.value ?? null]));
}
