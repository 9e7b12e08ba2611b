// Looks up stored notifications: those that wait for a channel, and those that were requested within a time.
import {
  binaryToUuid,
  uuidToBinary,
  withClassifiedErrors,
  type Binary,
  type Filter,
  type ReadModel,
} from '@lead-scoring/read-model';
import {
  deliveries,
  pendingDeliveries,
  toNotification,
  toWaiting,
  type DeliveryDocument,
} from './documents.js';
import type { Notification } from './state.js';
import type { WaitingNotification } from './waiting-notification.js';

/** A time within which a channel's notifications were requested; tests are left out. */
export interface RequestedWithin {
  channel_id: string;
  since: string;
  until: string;
  undeliveredOnly: boolean;
}

/** A step through the notifications of a range. */
export interface RequestedStep extends RequestedWithin {
  /** The last notification of the step before. */
  after: { at: string; notification_id: string } | null;
  limit: number;
}

/** Channels with pending notifications in the partition. */
export function findPendingChannels(
  readModel: ReadModel,
  partition: number,
): Promise<{ channel_id: string; ou_id: string }[]> {
  return withClassifiedErrors(async () => {
    const found = await readModel
      .collection(pendingDeliveries)
      .aggregate<{ _id: Binary; ou: Binary }>([
        { $match: { partition } },
        { $group: { _id: '$channel', ou: { $first: '$ou' } } },
      ])
      .toArray();
    return found.map(({ _id, ou }) => ({ channel_id: binaryToUuid(_id), ou_id: binaryToUuid(ou) }));
  });
}

/** Pending notifications of a channel, the first due first. */
export function findWaiting(
  readModel: ReadModel,
  { partition, channelId, limit }: { partition: number; channelId: string; limit: number },
): Promise<WaitingNotification[]> {
  return withClassifiedErrors(async () => {
    const found = await readModel
      .collection(pendingDeliveries)
      .find({ partition, channel: uuidToBinary(channelId) })
      .sort({ due: 1, _id: 1 })
      .limit(limit)
      .toArray();
    return found.map(toWaiting);
  });
}

/** Oldest first. */
export function findRequestedWithin(
  readModel: ReadModel,
  { after, limit, ...range }: RequestedStep,
): Promise<Notification[]> {
  return withClassifiedErrors(async () => {
    const found = await readModel
      .collection(deliveries)
      .find(after ? filterAfter(range, after) : filterOf(range))
      .sort({ requested: 1, _id: 1 })
      .limit(limit)
      .toArray();
    return found.map(toNotification);
  });
}

export function countRequestedWithin(readModel: ReadModel, range: RequestedWithin): Promise<number> {
  return withClassifiedErrors(() => readModel.collection(deliveries).countDocuments(filterOf(range)));
}

function filterAfter(
  range: RequestedWithin,
  { at, notification_id }: { at: string; notification_id: string },
): Filter<DeliveryDocument> {
  return {
    $and: [
      filterOf({ ...range, since: at }),
      { $or: [{ requested: { $gt: new Date(at) } }, { _id: { $gt: uuidToBinary(notification_id) } }] },
    ],
  };
}

function filterOf({ channel_id, since, until, undeliveredOnly }: RequestedWithin): Filter<DeliveryDocument> {
  return {
    channel: uuidToBinary(channel_id),
    requested: { $gte: new Date(since), $lte: new Date(until) },
    // Tests have no trigger.
    trigger: { $ne: null },
    ...(undeliveredOnly && { status: { $ne: 'delivered' as const } }),
  };
}
