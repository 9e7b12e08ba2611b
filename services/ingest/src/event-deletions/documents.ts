// The stored marks of deleted types, one for each deletion and partition, and what scoring has told of each part of a deletion.
import { eventTypeKey, type records } from '@lead-scoring/contracts';
import {
  defineCollection,
  keysWithin,
  offsetBytes,
  orderedKey,
  uuidBytes,
  withClassifiedErrors,
  type Binary,
  type ReadModel,
} from '@lead-scoring/read-model';
import { createRecurringValues } from '../events/recurring-values.js';
import { DeletedTypes } from './deleted-types-model.js';

/** `_id`: OU, deletion, partition. */
export interface DeletedTypeDocument {
  _id: Binary;
  /** The eventTypeKey. */
  key: string;
  /** The offset of the mark. */
  before: number;
  /** Events of the type that the partition had. */
  events: number;
  /** Whether nothing of them is stored any more. */
  is_cleared: boolean;
  partition: number;
}

export const deletedTypes = defineCollection<DeletedTypeDocument>({ name: 'deleted_types', indexes: [] });

/** `_id`: OU, deletion, partition and part. */
export interface DeletedScoresDocument {
  _id: Binary;
  leads: number;
  events: number;
  partition: number;
}

export const deletedScores = defineCollection<DeletedScoresDocument>({ name: 'deleted_scores', indexes: [] });

/** More than a partition has parts of a deletion. */
const parts = 2 ** 32;

export function toDeletedType(
  { ou_id, deletion_id, event_type, partition }: records.EventsOfTypeDeleted,
  { before, events }: Pick<DeletedTypeDocument, 'before' | 'events'>,
): DeletedTypeDocument {
  const _id = orderedKey([ou_id, deletion_id], partition);
  return { _id, key: eventTypeKey(event_type), before, events, is_cleared: false, partition };
}

export function toDeletedScores({
  ou_id,
  deletion_id,
  partition,
  part,
  leads,
  events,
}: records.EventScoresDeleted): DeletedScoresDocument {
  return { _id: orderedKey([ou_id, deletion_id], partition * parts + part), leads, events, partition };
}

/** All marks of an OU in a partition. */
export function marksIn(
  readModel: Pick<ReadModel, 'collection'>,
  ouId: string,
  partition: number,
): Promise<DeletedTypeDocument[]> {
  return withClassifiedErrors(() =>
    readModel
      .collection(deletedTypes)
      .find({ _id: keysWithin([ouId], uuidBytes + offsetBytes), partition })
      .toArray(),
  );
}

/** The deleted events of an OU of which something may still be stored. */
export async function readDeletedTypes(
  readModel: Pick<ReadModel, 'collection'>,
  ouId: string,
): Promise<DeletedTypes> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(deletedTypes)
      .find({ _id: keysWithin([ouId], uuidBytes + offsetBytes), is_cleared: false })
      .toArray(),
  );
  return new DeletedTypes(found, found.length === 0 ? eventTypeKey : recurringKeys());
}

/** The keys of types, of which a read meets few different ones. */
function recurringKeys(): (eventType: string) => string {
  const values = createRecurringValues();
  return (eventType) => values.typeKeyOf(eventType);
}

/** The marks of one deletion. */
export function marksOf(
  readModel: Pick<ReadModel, 'collection'>,
  { ou_id, deletion_id }: Deletion,
): Promise<DeletedTypeDocument[]> {
  return withClassifiedErrors(() =>
    readModel
      .collection(deletedTypes)
      .find({ _id: keysWithin([ou_id, deletion_id], offsetBytes) })
      .toArray(),
  );
}

interface Deletion {
  readonly ou_id: string;
  readonly deletion_id: string;
}

/** Counts the parts of a deletion, with numbers from `from` to `to` (exclusive), that scoring has dealt with. */
export function partsTold(
  readModel: Pick<ReadModel, 'collection'>,
  { ou_id, deletion_id }: Deletion,
  { partitions, from, to }: { readonly partitions: number; readonly from: number; readonly to: number },
): Promise<number> {
  const key = (partition: number, part: number) => orderedKey([ou_id, deletion_id], partition * parts + part);
  const ofPartitions = Array.from({ length: partitions }, (_, partition) => ({
    _id: { $gte: key(partition, from), $lt: key(partition, to) },
  }));
  return withClassifiedErrors(() =>
    readModel.collection(deletedScores).countDocuments({ $or: ofPartitions }),
  );
}

/** The numbers of leads decided anew and of events taken back, over all parts that scoring has dealt with. */
export async function toldByScoring(
  readModel: Pick<ReadModel, 'collection'>,
  { ou_id, deletion_id }: Deletion,
): Promise<{ leads: number; events: number }> {
  const told = { leads: 0, events: 0 };
  await withClassifiedErrors(async () => {
    for await (const { leads, events } of readModel
      .collection(deletedScores)
      .find({ _id: keysWithin([ou_id, deletion_id], offsetBytes) })) {
      told.leads += leads;
      told.events += events;
    }
  });
  return told;
}
