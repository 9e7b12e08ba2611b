// Lets reads wait until they include the caller's own events.
import { createFoldWatch } from '@lead-scoring/capability';
import type { ReadModel } from '@lead-scoring/read-model';
import { positionNotReached, type QueryContext } from '@lead-scoring/service';

/** Resolves once the caller's minimum positions are reached. @throws ProblemError 503 when that takes too long */
export type AwaitPositions = (context: Pick<QueryContext, 'minimumPositions' | 'signal'>) => Promise<void>;

export function createAwaitPositions(
  readModel: ReadModel,
  options: { readonly timeoutMs: number },
): AwaitPositions {
  const folded = createFoldWatch(readModel, 'scoring', options);
  return async ({ minimumPositions, signal }) => {
    if (!(await folded.until('ingest.events', minimumPositions, signal))) throw positionNotReached('scores');
  };
}
