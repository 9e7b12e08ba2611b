// How reads stay consistent while the read model is folded. Decisions of a batch are inserted in no order, so only
// decisions before the partition's checkpoint count, and the checkpoint is read first. A removal deletes the lead's
// document, or replaces it by that of the next lead with this id, before it deletes decisions; the checkpoint moves
// last. So when the lead's document is unchanged after its decisions were read, all of its decisions were read.
import { createCheckpoints, offsetToNumber, type ReadModel } from '@lead-scoring/read-model';

/** The read model, and how far it is folded. */
export interface ExplanationSource {
  readModel: ReadModel;
  foldedUpTo: FoldedUpTo;
}

/**
 * For each partition, the offset before which everything is folded at the time of the call.
 * @param partitions the partitions to look up; default all
 */
export type FoldedUpTo = (partitions?: readonly number[]) => Promise<(partition: number) => number>;

export function createFoldedUpTo(readModel: ReadModel, projectorName: string): FoldedUpTo {
  const checkpoints = createCheckpoints(readModel);
  return async (partitions) => {
    const found = await checkpoints.loadAll(projectorName, partitions);
    return (partition) => offsetToNumber(found.get(partition)?.positions['scoring.events'] ?? 0n);
  };
}

/** Whether the stored lead is the same lead, and not one made with its id after its removal. */
export function isSameLead(
  { first_offset }: { first_offset: number },
  stored: { first_offset: number } | null | undefined,
): boolean {
  return stored?.first_offset === first_offset;
}
