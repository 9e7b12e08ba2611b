// What of a read model that is being folded may be read. Decisions of a batch are inserted in no order, so of a lead those
// count that lie before its partition's checkpoint, which is read before them. A removal takes the lead's document away, or
// puts that of the next lead of this id in its place, before it deletes decisions, and the checkpoint moves after both: a
// lead whose document is still its own after its decisions were read was read whole.
import { createCheckpoints, offsetToNumber, type ReadModel } from '@lead-scoring/read-model';

/** The read model, and how far it is folded. */
export interface ExplanationSource {
  readModel: ReadModel;
  foldedUpTo: FoldedUpTo;
}

/**
 * Of these partitions, or of all, the offset before which everything is folded, as of now.
 * @param partitions those that will be asked about
 */
export type FoldedUpTo = (partitions?: readonly number[]) => Promise<(partition: number) => number>;

export function createFoldedUpTo(readModel: ReadModel, projectorName: string): FoldedUpTo {
  const checkpoints = createCheckpoints(readModel);
  return async (partitions) => {
    const found = await checkpoints.loadAll(projectorName, partitions);
    return (partition) => offsetToNumber(found.get(partition)?.positions['scoring.events'] ?? 0n);
  };
}

/** Whether what is stored under a lead's id is that lead, and not one that was made after its removal. */
export function isSameLead(
  { first_offset }: { first_offset: number },
  stored: { first_offset: number } | null | undefined,
): boolean {
  return stored?.first_offset === first_offset;
}
