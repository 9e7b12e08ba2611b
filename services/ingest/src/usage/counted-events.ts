// The events and repeats of each credential, by hour: one document for each OU, credential, day and partition.
import { documentProjection } from '@lead-scoring/capability';
import { nameBasedId, records, usagePlaceOf } from '@lead-scoring/contracts';
import { defineCollection, uuidToBinary, type Binary, type GuardedDocument } from '@lead-scoring/read-model';

export interface CountedEventsDocument extends GuardedDocument {
  _id: Binary;
  ou: Binary;
  sent_by: string;
  /** The beginning of the day, in UTC. */
  day: Date;
  /** By the hour of the day, 0 to 23. */
  hours: Record<string, { events: number; repeats: number }>;
}

export const countedEvents = defineCollection<CountedEventsDocument>({
  name: 'counted_events',
  indexes: [{ key: { ou: 1, day: 1 } }],
});

interface Counted {
  type: 'EventsCounted';
  payload: records.EventsCounted;
}

/** Pure. Adds to the hour in which the events were received. */
export function withCounted(
  hours: CountedEventsDocument['hours'],
  { received_at, events, repeats }: records.EventsCounted,
): CountedEventsDocument['hours'] {
  const hour = String(usagePlaceOf(Date.parse(received_at)).hour);
  const before = hours[hour] ?? { events: 0, repeats: 0 };
  return { ...hours, [hour]: { events: before.events + events, repeats: before.repeats + repeats } };
}

function idOf({ ou_id, sent_by, received_at }: records.EventsCounted, partition: number): Binary {
  const { day } = usagePlaceOf(Date.parse(received_at));
  return uuidToBinary(nameBasedId(ou_id, `counted events:${String(day)}:${sent_by}:${String(partition)}`));
}

export const countedEventsProjection = documentProjection<Counted, CountedEventsDocument>({
  name: 'counted-events',
  events: { EventsCounted: records.eventsCounted },
  collection: countedEvents,
  idOf: ({ payload }, partition) => idOf(payload, partition),
  fold: (document, { payload }, at) => ({
    _id: idOf(payload, at.partition),
    ou: uuidToBinary(payload.ou_id),
    sent_by: payload.sent_by,
    day: new Date(usagePlaceOf(Date.parse(payload.received_at)).day),
    hours: withCounted(document?.hours ?? {}, payload),
    ...at,
  }),
});
