// Reads that wait until what the caller has sent is in them.
import { createCheckpoints, createPositionWatch, type ReadModel } from '@lead-scoring/read-model';
import { ProblemError, type QueryContext } from '@lead-scoring/service';

/** Resolves once the caller's minimum positions are reached. */
export type AwaitPositions = (context: Pick<QueryContext, 'minimumPositions' | 'signal'>) => Promise<void>;

export function createAwaitPositions(
  readModel: ReadModel,
  { processor, timeoutMs }: { processor: string; timeoutMs: number },
): AwaitPositions {
  const watch = createPositionWatch(createCheckpoints(readModel), processor);
  return async ({ minimumPositions, signal }) => {
    if (minimumPositions.length === 0) return;
    const reached = await watch.wait('ingest.events', minimumPositions, timeoutMs, signal);
    if (!reached)
      throw new ProblemError(
        503,
        'position_not_reached',
        'The scores up to min_position are not visible yet. The events are safe; read again in a moment.',
        { headers: { 'Retry-After': '1' } },
      );
  };
}
