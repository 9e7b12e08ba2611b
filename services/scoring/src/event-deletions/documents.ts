// The deleted types of each OU, for jobs that read the recorded history: in each partition, the offset of ingest.events before which events
// of the type are deleted.
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

/** `_id`: OU, deletion, partition. */
export interface DeletedTypeDocument {
  _id: Binary;
  key: string;
  before: number;
  partition: number;
}

export const deletedTypes = defineCollection<DeletedTypeDocument>({ name: 'deleted_types', indexes: [] });

export function toDeletedType({
  ou_id,
  deletion_id,
  event_type,
  before,
  partition,
}: records.EventScoresDeleted): DeletedTypeDocument {
  return {
    _id: orderedKey([ou_id, deletion_id], partition),
    key: eventTypeKey(event_type),
    before,
    partition,
  };
}

/** A deleted type in one partition: the key of the type, and the offset before which its events are deleted. */
export type DeletedType = NonNullable<records.ReplayedPartition['deleted']>[number];

/** The deleted types of an OU, by partition; the last deletion of each type. */
export async function readDeletedTypes(
  readModel: Pick<ReadModel, 'collection'>,
  ouId: string,
): Promise<ReadonlyMap<number, readonly DeletedType[]>> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(deletedTypes)
      .find({ _id: keysWithin([ouId], uuidBytes + offsetBytes) })
      .toArray(),
  );
  const byPartition = new Map<number, Map<string, number>>();
  for (const { key, before, partition } of found) {
    const types = byPartition.get(partition) ?? new Map<string, number>();
    byPartition.set(partition, types.set(key, Math.max(types.get(key) ?? 0, before)));
  }
  return new Map(
    [...byPartition].map(([partition, types]) => [
      partition,
      [...types].map(([key, before]) => ({ key, before })),
    ]),
  );
}
