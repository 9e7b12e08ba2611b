// Buffers the index of pending notifications, in which the deliverer finds them by channel and due time: one document while a
// notification is pending, none once it has ended.
import {
  createGuardedWriter,
  inLockingOrder,
  uuidToBinary,
  withClassifiedErrors,
  type Collection,
  type GuardedWriter,
  type ReadModel,
  type TakenChanges,
  type WriteBuffer,
} from '@lead-scoring/read-model';
import { pendingDeliveries, toPendingDocument, type PendingDocument } from './documents.js';
import type { FoldedState, Notification } from './state.js';

interface ChangedNotification extends FoldedState<Notification> {
  /** No document was stored before the first unwritten change. */
  readonly isNew: boolean;
}

export class PendingBuffer implements WriteBuffer {
  readonly #collection: Collection<PendingDocument>;
  readonly #writer: GuardedWriter;
  /** By notification id. */
  #unwritten = new Map<string, ChangedNotification>();

  constructor(
    readModel: Pick<ReadModel, 'collection' | 'engine'>,
    private readonly partition: number,
  ) {
    this.#collection = readModel.collection(pendingDeliveries);
    this.#writer = createGuardedWriter(readModel);
  }

  get size(): number {
    return this.#unwritten.size;
  }

  /** @param isNew the notification was not stored before */
  put({ value, offset }: FoldedState<Notification>, { isNew }: { isNew: boolean }): void {
    const { notification_id } = value;
    const before = this.#unwritten.get(notification_id);
    this.#unwritten.set(notification_id, { value, offset, isNew: before?.isNew ?? isNew });
  }

  take(): TakenChanges {
    const changed = [...this.#unwritten.values()];
    this.#unwritten = new Map();
    return {
      write: async () => {
        await this.#writePending(changed.filter(({ value }) => value.status === 'pending'));
        await this.#deleteEnded(changed.filter(({ value }) => value.status !== 'pending'));
      },
      stored: () => undefined,
    };
  }

  forget(): void {
    this.#unwritten = new Map();
  }

  async #writePending(pending: readonly ChangedNotification[]): Promise<void> {
    const added = new Set<PendingDocument>();
    const documents = pending.map(({ value, offset, isNew }) => {
      const document = toPendingDocument(value, { partition: this.partition, offset });
      if (isNew) added.add(document);
      return document;
    });
    await this.#writer.write(this.#collection, documents, { isNew: (document) => added.has(document) });
  }

  async #deleteEnded(ended: readonly ChangedNotification[]): Promise<void> {
    if (ended.length === 0) return;
    const keys = inLockingOrder(ended.map(({ value }) => ({ _id: uuidToBinary(value.notification_id) })));
    // A pending document that another owner of the partition has written since stays.
    const newest = Math.max(...ended.map(({ offset }) => offset));
    await withClassifiedErrors(() =>
      this.#collection.deleteMany({ _id: { $in: keys.map(({ _id }) => _id) }, offset: { $lte: newest } }),
    );
  }
}
