// The delivered notifications of each channel, by hour: one document for each channel, day and partition.
import { documentProjection } from '@lead-scoring/capability';
import { nameBasedId, records, usagePlaceOf } from '@lead-scoring/contracts';
import { defineCollection, uuidToBinary, type Binary, type GuardedDocument } from '@lead-scoring/read-model';

export interface CountedDeliveriesDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  channel: Binary;
  /** The beginning of the day, in UTC. */
  day: Date;
  /** By the hour of the day, 0 to 23. */
  hours: Record<string, number>;
}

export const countedDeliveries = defineCollection<CountedDeliveriesDocument>({
  name: 'counted_deliveries',
  indexes: [{ key: { ou: 1, day: 1 } }],
});

interface Attempted {
  type: 'NotificationAttempted';
  payload: records.NotificationAttempted;
}

/** Pure. An attempt counts in the hour in which it began, if the receiver has taken the notification. */
export function withDelivered(
  hours: Readonly<Record<string, number>>,
  { outcome, attempted_at }: Pick<records.NotificationAttempted, 'outcome' | 'attempted_at'>,
): Record<string, number> {
  if (outcome !== 'delivered') return { ...hours };
  const hour = String(usagePlaceOf(Date.parse(attempted_at)).hour);
  return { ...hours, [hour]: (hours[hour] ?? 0) + 1 };
}

function idOf({ channel_id, attempted_at }: records.NotificationAttempted, partition: number): Binary {
  const { day } = usagePlaceOf(Date.parse(attempted_at));
  return uuidToBinary(nameBasedId(channel_id, `counted deliveries:${String(day)}:${String(partition)}`));
}

export const countedDeliveriesProjection = documentProjection<Attempted, CountedDeliveriesDocument>({
  name: 'counted-deliveries',
  events: { NotificationAttempted: records.notificationAttempted },
  collection: countedDeliveries,
  idOf: ({ payload }, partition) => idOf(payload, partition),
  fold: (document, { payload }, at) =>
    document === null && payload.outcome !== 'delivered'
      ? null
      : {
          _id: idOf(payload, at.partition),
          ou: uuidToBinary(payload.ou_id),
          channel: uuidToBinary(payload.channel_id),
          day: new Date(usagePlaceOf(Date.parse(payload.attempted_at)).day),
          hours: withDelivered(document?.hours ?? {}, payload),
          ...at,
        },
});
