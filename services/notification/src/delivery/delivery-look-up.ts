// Reads stored notifications: a channel's pending ones, and those requested within a range of time.
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

/** A range of time in which notifications of a channel were requested; tests are left out. */
export interface RequestRange {
  channel_id: string;
  since: string;
  until: string;
  undeliveredOnly: boolean;
}

/** One page of the notifications of a range. */
export interface RequestStep extends RequestRange {
  /** The last notification of the page before; null for the first page. */
  after: { at: string; notification_id: string } | null;
  limit: number;
}

/** The channels of the partition with pending notifications. */
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

/** The pending notifications of a channel, by due time. */
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

/** The notifications of a page, oldest first. */
export function findRequestedWithin(
  readModel: ReadModel,
  { after, limit, ...range }: RequestStep,
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

export function countRequestedWithin(readModel: ReadModel, range: RequestRange): Promise<number> {
  return withClassifiedErrors(() => readModel.collection(deliveries).countDocuments(filterOf(range)));
}

function filterAfter(
  range: RequestRange,
  { at, notification_id }: { at: string; notification_id: string },
): Filter<DeliveryDocument> {
  return {
    $and: [
      filterOf({ ...range, since: at }),
      { $or: [{ requested: { $gt: new Date(at) } }, { _id: { $gt: uuidToBinary(notification_id) } }] },
    ],
  };
}

function filterOf({ channel_id, since, until, undeliveredOnly }: RequestRange): Filter<DeliveryDocument> {
  return {
    channel: uuidToBinary(channel_id),
    requested: { $gte: new Date(since), $lte: new Date(until) },
    // Tests have no trigger.
    trigger: { $ne: null },
    ...(undeliveredOnly && { status: { $ne: 'delivered' as const } }),
  };
}
