// The notifications of a partition and their attempts, written behind, with pending notifications once more where the deliverer
// finds them by channel and time.
import type { records } from '@lead-scoring/contracts';
import {
  binaryToUuid,
  createGuardedWriter,
  findByIds,
  inLockingOrder,
  insertMissing,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type Collection,
  type GuardedWriter,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  deliveries,
  deliveryAttempts,
  pendingDeliveries,
  toAttemptDocument,
  toDeliveryDocument,
  toNotification,
  toPendingDocument,
  type AttemptDocument,
  type DeliveryDocument,
  type PendingDocument,
} from './documents.js';
import type { FoldedState, Notification } from './state.js';
import { WriteBehindStates } from './write-behind-states.js';

/** Everything that one write stores. */
export interface NotificationWrite {
  readonly notifications: readonly FoldedState<Notification>[];
  /** Ids of notifications that have no document yet. */
  readonly newIds: ReadonlySet<string>;
  readonly attempts: readonly AttemptDocument[];
}

export class NotificationStore {
  readonly #deliveries: Collection<DeliveryDocument>;
  readonly #attempts: Collection<AttemptDocument>;
  readonly #pending: Collection<PendingDocument>;
  readonly #writer: GuardedWriter;
  readonly #states: WriteBehindStates<Notification, DeliveryDocument>;
  #newIds = new Set<string>();
  #unwrittenAttempts: AttemptDocument[] = [];

  constructor(
    readModel: ReadModel,
    private readonly partition: number,
    { cachedNotifications }: { cachedNotifications: number },
  ) {
    this.#deliveries = readModel.collection(deliveries);
    this.#attempts = readModel.collection(deliveryAttempts);
    this.#pending = readModel.collection(pendingDeliveries);
    this.#writer = createGuardedWriter(readModel);
    this.#states = new WriteBehindStates(this.#deliveries, toNotification, {
      maximumCached: cachedNotifications,
    });
  }

  load(ids: Iterable<string>): Promise<Map<string, FoldedState<Notification> | null>> {
    return this.#states.load(ids);
  }

  /** Notifications of any partition, as they are stored; nothing is decided with them. */
  async find(ids: Iterable<string>): Promise<Map<string, Notification>> {
    const found = await findByIds(this.#deliveries, [...ids].map(uuidToBinary));
    return new Map(found.map((document) => [binaryToUuid(document._id), toNotification(document)]));
  }

  /** @param isAbsent nothing was known of the notification before */
  put(notification: FoldedState<Notification>, { isAbsent }: { isAbsent: boolean }): void {
    const { notification_id } = notification.value;
    if (isAbsent && !this.#states.unwritten.has(notification_id)) this.#newIds.add(notification_id);
    this.#states.put(notification_id, notification);
  }

  putAttempt(event: records.NotificationAttempted): void {
    this.#unwrittenAttempts.push(toAttemptDocument(event, this.partition));
  }

  get unwrittenCount(): number {
    return this.#states.unwritten.size;
  }

  beginWrite(): NotificationWrite {
    const [newIds, attempts] = [this.#newIds, this.#unwrittenAttempts];
    this.#newIds = new Set();
    this.#unwrittenAttempts = [];
    return { notifications: this.#states.beginWrite(), newIds, attempts };
  }

  async write({ notifications, newIds, attempts }: NotificationWrite): Promise<void> {
    const { partition } = this;
    const isNew = ({ _id }: { _id: Binary }) => newIds.has(binaryToUuid(_id));
    await insertMissing(this.#attempts, attempts);
    await this.#writer.write(
      this.#deliveries,
      notifications.map(({ value, offset }) => toDeliveryDocument(value, { partition, offset })),
      { isNew },
    );
    await this.#writer.write(
      this.#pending,
      notifications
        .filter(({ value }) => value.status === 'pending')
        .map(({ value, offset }) => toPendingDocument(value, { partition, offset })),
      { isNew },
    );
    await this.#deletePending(notifications.filter(({ value }) => value.status !== 'pending'));
  }

  async #deletePending(ended: readonly FoldedState<Notification>[]): Promise<void> {
    if (ended.length === 0) return;
    const keys = inLockingOrder(ended.map(({ value }) => ({ _id: uuidToBinary(value.notification_id) })));
    // A pending document that another owner of the partition has written since stays.
    const newest = Math.max(...ended.map(({ offset }) => offset));
    await withClassifiedErrors(() =>
      this.#pending.deleteMany({ _id: { $in: keys.map(({ _id }) => _id) }, offset: { $lte: newest } }),
    );
  }

  endWrite(): void {
    this.#states.endWrite();
  }

  /** Their documents are deleted. */
  remove(ids: Iterable<string>): void {
    this.#states.remove(ids);
  }
}
