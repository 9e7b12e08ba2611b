// Waits until events are folded: what a caller has sent, or what another service has recorded.
import { createPositionWatch, type PositionWatch } from '@lead-scoring/event-log';
import { createCheckpoints, type Checkpoint, type ReadModel } from '@lead-scoring/read-model';

export type FoldWatch = PositionWatch<Checkpoint>;

/** @param name of the processor or the projection that folds, and of its checkpoints */
export function createFoldWatch(
  readModel: ReadModel,
  name: string,
  options: { readonly timeoutMs: number },
): FoldWatch {
  const checkpoints = createCheckpoints(readModel);
  return createPositionWatch(() => checkpoints.loadAll(name), {
    ...options,
    own: {
      positions: (partitions) => checkpoints.own(name, partitions),
      moved: () => checkpoints.nextOwn(),
    },
  });
}
