// Notifications as stored: each under its id with what became of it, its attempts beside it, those that wait once more
// by channel and time, and how each channel does.
import type { JsonValue, records } from '@lead-scoring/contracts';
import type { Touch } from '@lead-scoring/event-log';
import {
  Binary,
  binaryToUuid,
  createGuardedWriter,
  createStateCache,
  deleteByIds,
  defineCollection,
  deletePartition,
  findByIds,
  inLockingOrder,
  insertMissing,
  packJson,
  unpackJson,
  uuidToBinary,
  withClassifiedErrors,
  type Collection,
  type Filter,
  type GuardedDocument,
  type ReadModel,
  type StateCache,
} from '@lead-scoring/read-model';
import { notificationsIn, type DeliveryEvent } from './events.js';
import { evolveHealth, evolveNotification } from './evolve.js';
import { isForgotten } from './forget-model.js';
import { firedOf, isTest, type ChannelHealth, type Notification } from './state.js';

export interface DeliveryDocument extends GuardedDocument {
  /** The notification's id. */
  _id: Binary;
  ou: Binary;
  channel: Binary;
  lead: Binary | null;
  trigger: Binary | null;
  firing: Binary | null;
  status: Notification['status'];
  requested: Date;
  /** JSON text of the notification. */
  content: string;
}

export interface AttemptDocument {
  /** attemptKey */
  _id: Binary;
  partition: number;
  /** JSON text of the event. */
  content: string;
}

/** A notification that is to be sent: what the deliverer needs to put it in its place. */
export interface PendingDocument extends GuardedDocument {
  /** The notification's id. */
  _id: Binary;
  ou: Binary;
  channel: Binary;
  lead: Binary | null;
  due: Date;
  test: boolean;
}

export interface HealthDocument extends GuardedDocument {
  /** The channel's id. */
  _id: Binary;
  content: string;
}

export const deliveries = defineCollection<DeliveryDocument>({
  name: 'deliveries',
  indexes: [
    { key: { ou: 1, requested: -1, _id: -1 } },
    { key: { channel: 1, requested: -1, _id: -1 } },
    { key: { lead: 1, requested: -1, _id: -1 } },
    { key: { firing: 1 } },
  ],
});
export const deliveryAttempts = defineCollection<AttemptDocument>({ name: 'delivery_attempts', indexes: [] });
export const pendingDeliveries = defineCollection<PendingDocument>({
  name: 'pending_deliveries',
  indexes: [{ key: { partition: 1, channel: 1, due: 1, _id: 1 } }],
});
export const channelHealth = defineCollection<HealthDocument>({ name: 'channel_health', indexes: [] });

export const deliveryCollections = [deliveries, deliveryAttempts, pendingDeliveries, channelHealth];

/** An attempt within its notification: ordered, so that all of one come in order from the primary index. */
export function attemptKey(notificationId: string, attempt: number): Binary {
  const bytes = Buffer.alloc(20);
  Buffer.from(notificationId.replaceAll('-', ''), 'hex').copy(bytes);
  bytes.writeUInt32BE(attempt, 16);
  return new Binary(bytes, 0);
}

/** All attempts of a notification. */
export function attemptsOf(notificationId: string): { $gte: Binary; $lte: Binary } {
  return { $gte: attemptKey(notificationId, 0), $lte: attemptKey(notificationId, 0xffff_ffff) };
}

/** A notification that waits, as short as it can be kept in hand. */
export interface Waiting {
  readonly notification_id: string;
  readonly ou_id: string;
  readonly channel_id: string;
  readonly lead_id: string | null;
  /** Milliseconds since 1970. */
  readonly due: number;
  /** Of the last event that it holds: of two with one time, the earlier goes first. */
  readonly offset: number;
  readonly test: boolean;
}

/** What a fold has changed. */
export interface Folded {
  /** As they are afterwards. */
  notifications: { notification: Notification; offset: number }[];
  /** Ids of those of which an attempt was folded. */
  attempted: ReadonlySet<string>;
  /** Those that are gone. */
  forgotten: { notification_id: string; channel_id: string }[];
  health: ChannelHealth[];
}

/** The notifications and channels of one partition. */
export interface DeliveryStore {
  notifications(ids: Iterable<string>): Promise<Map<string, Notification | null>>;
  /** Notifications of any partition, as they are stored; not to be decided on. */
  find(ids: Iterable<string>): Promise<Map<string, Notification>>;
  health(channelIds: Iterable<string>): Promise<Map<string, ChannelHealth | null>>;
  /**
   * What is folded is in hand at once, and written beside what follows: so nobody is told later for it. A failure to write is
   * that of a later fold, and of whoever waits.
   */
  fold(events: readonly { event: DeliveryEvent; offset: number }[]): Promise<Folded>;
  /** Resolves when all that is folded as of this call is written. */
  written(): Promise<void>;
  /** Channels for which something waits. */
  channelsThatWait(): Promise<{ channel_id: string; ou_id: string }[]>;
  /** What waits for a channel, that which is due first before the rest. */
  waitingFor(channelId: string, limit: number): Promise<Waiting[]>;
  /** A channel's notifications that were requested within a time, oldest first. */
  requestedWithin(
    range: RequestedWithin & { after: { at: string; notification_id: string } | null; limit: number },
  ): Promise<Notification[]>;
  countRequestedWithin(range: RequestedWithin): Promise<number>;
  reset(touch: Touch): Promise<void>;
}

/** A time within which a channel's notifications were requested; tests are left out. */
export interface RequestedWithin {
  channel_id: string;
  since: string;
  until: string;
  undeliveredOnly: boolean;
}

/** A notification that is forgotten, as far as it has to be found. */
interface Forgotten {
  channel_id: string;
  attempts: number;
}

/** Of what is forgotten, so much is looked for and through in one call. */
const leadsAtOnce = 500;
const notificationsAtOnce = 500;

interface Stored<Value> {
  value: Value;
  offset: number;
}

/** What is folded and not written: of each notification and channel only the newest. */
class Unwritten {
  /** By id; `isNew`: nothing is stored of it. */
  readonly notifications = new Map<string, Stored<Notification> & { isNew: boolean }>();
  readonly attempts: AttemptDocument[] = [];
  /** By channel. */
  readonly health = new Map<string, Stored<ChannelHealth>>();
}

/** With more that is not written, folding waits. */
const maximumUnwritten = 2_000;

export function createDeliveryStore(
  readModel: ReadModel,
  partition: number,
  { cachedNotifications }: { cachedNotifications: number },
): DeliveryStore {
  const stored = readModel.collection(deliveries);
  const attempts = readModel.collection(deliveryAttempts);
  const pending = readModel.collection(pendingDeliveries);
  const healths = readModel.collection(channelHealth);
  const writer = createGuardedWriter(readModel);
  const known = createStateCache<Stored<Notification>>({ maximumEntries: cachedNotifications });
  const knownHealth = createStateCache<Stored<ChannelHealth>>({ maximumEntries: 10_000 });

  let unwritten = new Unwritten();
  let beingWritten = new Unwritten();
  /** Fails for whoever waits for it, and for all that come after: what was not written would be missing. */
  let writing: Promise<void> = Promise.resolve();
  /** What is folded until then is written together, after what is being written. */
  let isWriteDue = false;
  let hasFailed = false;

  function write(): void {
    if (isWriteDue) return;
    isWriteDue = true;
    writing = writing.then(writeUnwritten);
    writing.catch(() => {
      hasFailed = true;
    });
  }

  async function writeUnwritten(): Promise<void> {
    isWriteDue = false;
    beingWritten = unwritten;
    unwritten = new Unwritten();
    const notifications = [...beingWritten.notifications.values()];
    const news = new Set(notifications.flatMap(({ value, isNew }) => (isNew ? value.notification_id : [])));
    const isNew = ({ _id }: { _id: Binary }) => news.has(binaryToUuid(_id));
    await insertMissing(attempts, beingWritten.attempts);
    await writer.write(
      stored,
      notifications.map(({ value, offset }) => toDocument(value, { partition, offset })),
      { isNew },
    );
    await writer.write(
      pending,
      notifications
        .filter(({ value }) => value.status === 'pending')
        .map(({ value, offset }) => toPending(value, { partition, offset })),
      { isNew },
    );
    const ended = notifications.filter(({ value }) => value.status !== 'pending');
    if (ended.length > 0) {
      const keys = inLockingOrder(ended.map(({ value }) => ({ _id: uuidToBinary(value.notification_id) })));
      // What another owner has put there since waits again.
      const newest = Math.max(...ended.map(({ offset }) => offset));
      await withClassifiedErrors(() =>
        pending.deleteMany({ _id: { $in: keys.map(({ _id }) => _id) }, offset: { $lte: newest } }),
      );
    }
    await writer.write(
      healths,
      [...beingWritten.health.values()].map(({ value, offset }) => ({
        _id: uuidToBinary(value.channel_id),
        partition,
        offset,
        content: packJson(value as unknown as JsonValue),
      })),
    );
    for (const [id, { value, offset }] of beingWritten.notifications) known.put(id, { value, offset });
    for (const [id, one] of beingWritten.health) knownHealth.put(id, one);
    beingWritten = new Unwritten();
  }

  /** What is not written is found in hand, all else where it is kept or stored. */
  async function load<Value extends object, Kept extends GuardedDocument & { _id: Binary }>(
    ids: Iterable<string>,
    inHand: (id: string) => Stored<Value> | undefined,
    cache: StateCache<Stored<Value>>,
    collection: Collection<Kept>,
    valueIn: (document: Kept) => Value,
  ): Promise<Map<string, Stored<Value> | null>> {
    const wanted = [...ids];
    const found = new Map(wanted.map((id) => [id, inHand(id)]));
    const others = wanted.filter((id) => !found.get(id));
    const loaded = await cache.load(others, async (missing) =>
      (await findByIds(collection, missing.map(uuidToBinary))).map((document) => [
        binaryToUuid(document._id),
        { value: valueIn(document), offset: document.offset },
      ]),
    );
    for (const id of wanted) {
      // What was folded meanwhile is newer.
      const one = inHand(id) ?? found.get(id);
      if (one) loaded.set(id, one);
    }
    return loaded;
  }

  const loadNotifications = (ids: Iterable<string>) =>
    load(
      ids,
      (id) => unwritten.notifications.get(id) ?? beingWritten.notifications.get(id),
      known,
      stored,
      toNotification,
    );
  const loadHealth = (ids: Iterable<string>) =>
    load(
      ids,
      (id) => unwritten.health.get(id) ?? beingWritten.health.get(id),
      knownHealth,
      healths,
      toHealth,
    );

  async function fold(events: readonly { event: DeliveryEvent; offset: number }[]): Promise<Folded> {
    if (hasFailed || unwritten.notifications.size > maximumUnwritten) await writing;
    const ids = new Set<string>();
    const channelIds = new Set<string>();
    for (const { event } of events) {
      channelIds.add(event.payload.channel_id);
      for (const id of notificationsIn(event)) ids.add(id);
    }
    const [before, healthBefore] = await Promise.all([loadNotifications(ids), loadHealth(channelIds)]);
    const after = new Map(before);
    const healthAfter = new Map(healthBefore);
    const attempted: records.NotificationAttempted[] = [];
    const ends: records.NotificationsForgotten[] = [];
    const forgotten = new Map<string, Forgotten>();
    for (const { event, offset } of events) {
      const { channel_id } = event.payload;
      if (event.type === 'NotificationsForgotten') {
        ends.push(event.payload);
        for (const [id, one] of after) {
          if (!one || !isForgotten(one.value, event.payload)) continue;
          forgotten.set(id, one.value);
          after.set(id, null);
        }
      }
      for (const id of notificationsIn(event)) {
        const was = after.get(id) ?? null;
        const is = was && was.offset >= offset ? null : evolveNotification(was?.value ?? null, event);
        if (is) after.set(id, { value: is, offset });
      }
      // Of one that is not there any more, an attempt is folded again: the notification was forgotten since.
      if (event.type === 'NotificationAttempted' && after.get(event.payload.notification_id))
        attempted.push(event.payload);
      const was = healthAfter.get(channel_id) ?? null;
      const is = was && was.offset >= offset ? was.value : evolveHealth(was?.value ?? null, event);
      // What changes nothing leaves the offset as well: it may not depend on what else is in the batch.
      if (is !== was?.value) healthAfter.set(channel_id, { value: is, offset });
    }
    const notifications = [...after.values()].flatMap((one) => (one ? [one] : []));
    const health = [...healthAfter].flatMap(([id, one]) =>
      one && one.value !== healthBefore.get(id)?.value ? [one] : [],
    );
    for (const payload of attempted) {
      const { notification_id, attempt } = payload;
      if (forgotten.has(notification_id)) continue;
      const content = packJson(payload as unknown as JsonValue);
      unwritten.attempts.push({ _id: attemptKey(notification_id, attempt), partition, content });
    }
    for (const one of notifications) {
      const id = one.value.notification_id;
      const isNew = unwritten.notifications.get(id)?.isNew ?? (before.get(id) ?? null) === null;
      unwritten.notifications.set(id, { ...one, isNew });
    }
    for (const one of health) unwritten.health.set(one.value.channel_id, one);
    write();
    if (ends.length > 0) {
      await writing;
      await forget(ends, forgotten);
      for (const id of forgotten.keys()) known.put(id, null);
    }
    return {
      notifications: notifications.map(({ value, offset }) => ({ notification: value, offset })),
      attempted: new Set(attempted.map(({ notification_id }) => notification_id)),
      forgotten: [...forgotten].map(([notification_id, { channel_id }]) => ({ notification_id, channel_id })),
      health: health.map(({ value }) => value),
    };
  }

  /**
   * Deletes what is forgotten, the notifications last: they are what the rest is found by.
   * @param forgotten what is known already, to which what is found is added
   */
  async function forget(
    ends: readonly records.NotificationsForgotten[],
    forgotten: Map<string, Forgotten>,
  ): Promise<void> {
    const endsByLead = new Map<string, records.NotificationsForgotten[]>();
    for (const end of ends) endsByLead.set(end.lead_id, [...(endsByLead.get(end.lead_id) ?? []), end]);
    const leads = [...endsByLead.keys()];
    for (let from = 0; from < leads.length; from += leadsAtOnce)
      await withClassifiedErrors(async () => {
        const found = stored.find(
          { partition, lead: { $in: leads.slice(from, from + leadsAtOnce).map(uuidToBinary) } },
          { projection: { content: 1 }, batchSize: notificationsAtOnce },
        );
        for await (const document of found) {
          const notification = toNotification(document);
          const { notification_id, channel_id, attempts } = notification;
          const ofLead = endsByLead.get(firedOf(notification)?.lead.id ?? '') ?? [];
          if (!ofLead.some((end) => isForgotten(notification, end))) continue;
          const made = Math.max(attempts, forgotten.get(notification_id)?.attempts ?? 0);
          forgotten.set(notification_id, { channel_id, attempts: made });
        }
      });
    const ids = [...forgotten.keys()];
    for (let from = 0; from < ids.length; from += notificationsAtOnce) {
      const some = ids.slice(from, from + notificationsAtOnce);
      await deleteByIds(
        attempts,
        some.flatMap((id) =>
          Array.from({ length: forgotten.get(id)?.attempts ?? 0 }, (_, made) => attemptKey(id, made + 1)),
        ),
      );
      const keys = some.map(uuidToBinary);
      await deleteByIds(pending, keys);
      await deleteByIds(stored, keys);
    }
  }

  return {
    notifications: async (ids) => valuesOf(await loadNotifications(ids)),
    find: async (ids) => {
      await writing;
      const found = await findByIds(stored, [...ids].map(uuidToBinary));
      return new Map(found.map((document) => [binaryToUuid(document._id), toNotification(document)]));
    },
    health: async (ids) => valuesOf(await loadHealth(ids)),
    fold,
    written: () => writing,
    channelsThatWait: () =>
      withClassifiedErrors(async () => {
        await writing;
        const found = await pending
          .aggregate<{ _id: Binary; ou: Binary }>([
            { $match: { partition } },
            { $group: { _id: '$channel', ou: { $first: '$ou' } } },
          ])
          .toArray();
        return found.map(({ _id, ou }) => ({ channel_id: binaryToUuid(_id), ou_id: binaryToUuid(ou) }));
      }),
    waitingFor: (channelId, limit) =>
      withClassifiedErrors(async () => {
        await writing;
        const found = await pending
          .find({ partition, channel: uuidToBinary(channelId) })
          .sort({ due: 1, _id: 1 })
          .limit(limit)
          .toArray();
        return found.map(toWaiting);
      }),
    requestedWithin: ({ after, limit, ...range }) =>
      withClassifiedErrors(async () => {
        await writing;
        const found = await stored
          .find(
            after
              ? {
                  $and: [
                    requestedFilter({ ...range, since: after.at }),
                    {
                      $or: [
                        { requested: { $gt: new Date(after.at) } },
                        { _id: { $gt: uuidToBinary(after.notification_id) } },
                      ],
                    },
                  ],
                }
              : requestedFilter(range),
          )
          .sort({ requested: 1, _id: 1 })
          .limit(limit)
          .toArray();
        return found.map(toNotification);
      }),
    countRequestedWithin: (range) =>
      withClassifiedErrors(async () => {
        await writing;
        return stored.countDocuments(requestedFilter(range));
      }),
    reset: async (touch) => {
      await Promise.allSettled([writing]);
      known.clear();
      knownHealth.clear();
      for (const declaration of [pendingDeliveries, channelHealth, deliveryAttempts, deliveries])
        await deletePartition<{ partition: number }>(readModel, declaration, partition, touch);
    },
  };
}

function valuesOf<Value extends object>(
  loaded: Map<string, Stored<Value> | null>,
): Map<string, Value | null> {
  return new Map([...loaded].map(([key, one]) => [key, one?.value ?? null]));
}

function requestedFilter({
  channel_id,
  since,
  until,
  undeliveredOnly,
}: RequestedWithin): Filter<DeliveryDocument> {
  return {
    channel: uuidToBinary(channel_id),
    requested: { $gte: new Date(since), $lte: new Date(until) },
    // Tests are of no trigger.
    trigger: { $ne: null },
    ...(undeliveredOnly && { status: { $ne: 'delivered' as const } }),
  };
}

export function toNotification({ content }: Pick<DeliveryDocument, 'content'>): Notification {
  return unpackJson(content) as unknown as Notification;
}

export function toHealth({ content }: Pick<HealthDocument, 'content'>): ChannelHealth {
  return unpackJson(content) as unknown as ChannelHealth;
}

function optional(id: string | undefined): Binary | null {
  return id === undefined ? null : uuidToBinary(id);
}

function toDocument(notification: Notification, at: { partition: number; offset: number }): DeliveryDocument {
  const fired = firedOf(notification);
  return {
    _id: uuidToBinary(notification.notification_id),
    ...at,
    ou: uuidToBinary(notification.ou_id),
    channel: uuidToBinary(notification.channel_id),
    lead: optional(fired?.lead.id),
    trigger: optional(fired?.trigger.id),
    firing: optional(fired?.firing_id),
    status: notification.status,
    requested: new Date(notification.requested_at),
    content: packJson(notification as unknown as JsonValue),
  };
}

function toPending(notification: Notification, at: { partition: number; offset: number }): PendingDocument {
  return {
    _id: uuidToBinary(notification.notification_id),
    ...at,
    ou: uuidToBinary(notification.ou_id),
    channel: uuidToBinary(notification.channel_id),
    lead: optional(firedOf(notification)?.lead.id),
    due: new Date(notification.due_at),
    test: isTest(notification),
  };
}

function toWaiting({ _id, ou, channel, lead, due, offset, test }: PendingDocument): Waiting {
  return {
    notification_id: binaryToUuid(_id),
    ou_id: binaryToUuid(ou),
    channel_id: binaryToUuid(channel),
    lead_id: lead && binaryToUuid(lead),
    due: due.getTime(),
    offset,
    test,
  };
}

/** A notification as the deliverer keeps it. */
export function waitingOf(notification: Notification, offset: number): Waiting {
  const { notification_id, ou_id, channel_id, due_at } = notification;
  return {
    notification_id,
    ou_id,
    channel_id,
    lead_id: firedOf(notification)?.lead.id ?? null,
    due: Date.parse(due_at),
    offset,
    test: isTest(notification),
  };
}
