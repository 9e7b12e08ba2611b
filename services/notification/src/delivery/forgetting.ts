// Deletes the documents of forgotten notifications.
import type { records } from '@lead-scoring/contracts';
import { deleteByIds, uuidToBinary, withClassifiedErrors, type ReadModel } from '@lead-scoring/read-model';
import type { ForgottenNotification } from './delivery-fold.js';
import {
  attemptKey,
  deliveries,
  deliveryAttempts,
  pendingDeliveries,
  toNotification,
  type DeliveryDocument,
} from './documents.js';
import { forgottenIdIn, isForgotten } from './forget-model.js';
import { subjectIdOf } from './state.js';

/** Maximum number of leads and accounts, and of notifications, in one call to the database. */
const idsPerCall = 500;
const notificationsPerCall = 500;

/**
 * Deletes the notifications that these events forget, with their attempts and pending documents. The notifications are deleted
 * last, because the other documents are found through them.
 * @param inMemory forgotten notifications that the caller has in memory, by id
 * @returns `inMemory` and the stored ones
 */
export async function deleteForgotten(
  readModel: ReadModel,
  partition: number,
  ends: readonly records.NotificationsForgotten[],
  inMemory: ReadonlyMap<string, ForgottenNotification>,
): Promise<Map<string, ForgottenNotification>> {
  const forgotten = new Map(inMemory);
  await addStored(readModel, partition, ends, forgotten);
  const ids = [...forgotten.keys()];
  for (let from = 0; from < ids.length; from += notificationsPerCall) {
    const some = ids.slice(from, from + notificationsPerCall);
    const attemptKeys = some.flatMap((id) =>
      Array.from({ length: forgotten.get(id)?.attempts ?? 0 }, (_, made) => attemptKey(id, made + 1)),
    );
    await deleteByIds(readModel.collection(deliveryAttempts), attemptKeys);
    const keys = some.map(uuidToBinary);
    await deleteByIds(readModel.collection(pendingDeliveries), keys);
    await deleteByIds(readModel.collection(deliveries), keys);
  }
  return forgotten;
}

async function addStored(
  readModel: ReadModel,
  partition: number,
  ends: readonly records.NotificationsForgotten[],
  forgotten: Map<string, ForgottenNotification>,
): Promise<void> {
  const endsById = new Map<string, records.NotificationsForgotten[]>();
  for (const end of ends) {
    const id = forgottenIdIn(end);
    if (id !== undefined) endsById.set(id, [...(endsById.get(id) ?? []), end]);
  }
  const visit = (document: Pick<DeliveryDocument, 'content'>) => {
    const notification = toNotification(document);
    const { notification_id, channel_id, attempts } = notification;
    const ofSubject = endsById.get(subjectIdOf(notification) ?? '') ?? [];
    if (!ofSubject.some((end) => isForgotten(notification, end))) return;
    // The state in memory may be newer than the stored one.
    const made = Math.max(attempts, forgotten.get(notification_id)?.attempts ?? 0);
    forgotten.set(notification_id, { channel_id, attempts: made });
  };
  const ids = [...endsById.keys()];
  for (let from = 0; from < ids.length; from += idsPerCall)
    await withClassifiedErrors(async () => {
      const found = readModel
        .collection(deliveries)
        .find(
          { partition, lead: { $in: ids.slice(from, from + idsPerCall).map(uuidToBinary) } },
          { projection: { content: 1 }, batchSize: notificationsPerCall },
        );
      for await (const document of found) visit(document);
    });
}
