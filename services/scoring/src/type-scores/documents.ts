// The number of scored events of a type: one document for each OU, type and partition.
import { nameBasedId } from '@lead-scoring/contracts';
import {
  defineCollection,
  keysWithin,
  offsetBytes,
  orderedKey,
  withClassifiedErrors,
  type Binary,
  type GuardedDocument,
  type ReadModel,
} from '@lead-scoring/read-model';

export interface TypeScoresDocument extends GuardedDocument {
  _id: Binary;
  events: number;
}

export const typeScores = defineCollection<TypeScoresDocument>({ name: 'type_scores', indexes: [] });

/** A type's name may be long and hold any character: its id stands for it. */
function typeIdOf(ouId: string, typeKey: string): string {
  return nameBasedId(ouId, `type:${typeKey}`);
}

/** OU, type, partition. */
export function typeScoresId(ouId: string, typeKey: string, partition: number): Binary {
  return orderedKey([ouId, typeIdOf(ouId, typeKey)], partition);
}

/** The scored events of a type of an OU, in all partitions. */
export async function readTypeScores(readModel: ReadModel, ouId: string, typeKey: string): Promise<number> {
  const found = await withClassifiedErrors(() =>
    readModel
      .collection(typeScores)
      .find({ _id: keysWithin([ouId, typeIdOf(ouId, typeKey)], offsetBytes) })
      .toArray(),
  );
  return found.reduce((sum, { events }) => sum + events, 0);
}
