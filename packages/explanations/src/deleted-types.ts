// Reads which events of an OU are deleted, for what reads them from the log.
import { eventTypeKey } from '@lead-scoring/contracts';
import {
  keysWithin,
  offsetBytes,
  uuidBytes,
  withClassifiedErrors,
  type ReadModel,
} from '@lead-scoring/read-model';
import { deletedTypes } from './model.js';

/** Whether an event is deleted, by its type and the place of its record on ingest.events. */
export type IsDeletedEvent = (eventType: string, place: { partition: number; offset: number }) => boolean;

export async function readDeletedEvents(readModel: ReadModel, ouId: string): Promise<IsDeletedEvent> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(deletedTypes)
      .find({ _id: keysWithin([ouId], uuidBytes + offsetBytes) })
      .toArray(),
  );
  if (found.length === 0) return () => false;
  const ends = new Map<string, number>();
  for (const { key, before, partition } of found) {
    const name = `${String(partition)} ${key}`;
    ends.set(name, Math.max(ends.get(name) ?? 0, before));
  }
  return (eventType, { partition, offset }) =>
    offset < (ends.get(`${String(partition)} ${eventTypeKey(eventType)}`) ?? 0);
}
