// Folds a batch of events into the states of notifications and channels. Pure.
import type { records } from '@lead-scoring/contracts';
import { evolveHealth, evolveNotification } from './evolve.js';
import { isForgotten } from './forget-model.js';
import { notificationsIn, type DeliveryEvent } from './messages.js';
import type { ChannelHealth, FoldedState, Notification } from './state.js';

export interface RecordedDelivery {
  readonly event: DeliveryEvent;
  readonly offset: number;
  /** The trace that the record belongs to. */
  readonly traceparent?: string | undefined;
}

/** By id; null where nothing is stored. */
type States<Value> = ReadonlyMap<string, FoldedState<Value> | null>;

/** A forgotten notification, with the fields that find its documents. */
export interface ForgottenNotification {
  readonly channel_id: string;
  readonly attempts: number;
}

export class DeliveryFold {
  readonly #notifications: Map<string, FoldedState<Notification> | null>;
  readonly #health: Map<string, FoldedState<ChannelHealth> | null>;
  readonly #attempts: records.NotificationAttempted[] = [];
  readonly ends: records.NotificationsForgotten[] = [];
  /** The notifications in memory that this batch forgets, by id. */
  readonly forgotten = new Map<string, ForgottenNotification>();

  constructor(
    notificationsBefore: States<Notification>,
    private readonly healthBefore: States<ChannelHealth>,
  ) {
    this.#notifications = new Map(notificationsBefore);
    this.#health = new Map(healthBefore);
  }

  fold({ event, offset }: RecordedDelivery): void {
    if (event.type === 'NotificationsForgotten') this.#forget(event.payload);
    for (const id of notificationsIn(event)) this.#foldNotification(id, event, offset);
    // Only an event that was folded before can name a missing notification: the notification was forgotten since.
    if (event.type === 'NotificationAttempted' && this.#notifications.get(event.payload.notification_id))
      this.#attempts.push(event.payload);
    this.#foldHealth(event, offset);
  }

  #forget(end: records.NotificationsForgotten): void {
    this.ends.push(end);
    for (const [id, one] of this.#notifications) {
      if (!one || !isForgotten(one.value, end)) continue;
      this.forgotten.set(id, one.value);
      this.#notifications.set(id, null);
    }
  }

  #foldNotification(id: string, event: DeliveryEvent, offset: number): void {
    const before = this.#notifications.get(id) ?? null;
    const after = before && before.offset >= offset ? null : evolveNotification(before?.value ?? null, event);
    if (after) this.#notifications.set(id, { value: after, offset });
  }

  #foldHealth(event: DeliveryEvent, offset: number): void {
    const { channel_id } = event.payload;
    const before = this.#health.get(channel_id) ?? null;
    const after =
      before && before.offset >= offset ? before.value : evolveHealth(before?.value ?? null, event);
    // An event that changes nothing leaves the offset too, so that the offset does not depend on the division into batches.
    if (after !== before?.value) this.#health.set(channel_id, { value: after, offset });
  }

  /** The changed notifications after the batch. */
  get notifications(): FoldedState<Notification>[] {
    return [...this.#notifications.values()].flatMap((one) => (one ? [one] : []));
  }

  /** The changed health of channels. */
  get health(): FoldedState<ChannelHealth>[] {
    return [...this.#health].flatMap(([id, one]) =>
      one && one.value !== this.healthBefore.get(id)?.value ? [one] : [],
    );
  }

  /** The folded attempts, those of forgotten notifications included. */
  get attempts(): readonly records.NotificationAttempted[] {
    return this.#attempts;
  }
}
